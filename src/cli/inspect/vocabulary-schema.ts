/** The vocabulary as JSON Schema: shared shapes stand once below `$defs`, and every op, event and key has its description. */
import { toJsonSchema } from "@valibot/to-json-schema";
import { CommandReply, CommandResult, SuggestReply } from "../../core/command.js";
import { HostTool, McpServer, Rule, SessionConfig } from "../../core/config.js";
import { Part, TodoItem } from "../../core/content.js";
import { Fault } from "../../core/errors.js";
import { Call, Closed, Covers, Event, ListedMcpServer, Need, SessionRow, Usage } from "../../core/event.js";
import { Client, opMetaEntries } from "../../core/meta.js";
import { Answer, Op } from "../../core/op.js";
import { QuestionAnswers, Questions } from "../../core/question.js";
import { isRecord } from "../../core/values/json-object.js";
import * as v from "valibot";
import { LENIENT } from "./schema.js";
import { EVENT_WORDS } from "./words/events.js";
import { OP_WORDS } from "./words/ops.js";
import { SHAPE_WORDS } from "./words/shapes.js";

type Json = Record<string, unknown>;
type Words = Readonly<Record<string, string>>;

const SHAPES = {
  SessionConfig,
  Rule,
  HostTool,
  McpServer,
  Part,
  TodoItem,
  Call,
  Covers,
  Answer,
  Usage,
  Fault,
  Closed,
  SessionRow,
  Need,
  Client,
  ListedMcpServer,
  CommandReply,
  CommandResult,
  SuggestReply,
  Questions,
  QuestionAnswers,
};

/** Keys below these paths mean what the keys of the shape mean. */
const ALIKE: Readonly<Record<string, string>> = {
  "turn.prompt/overrides": "SessionConfig",
  "catalog.updated/skills": "Listed",
  "catalog.updated/subagents": "Listed",
  "catalog.updated/commands": "Listed",
  closed: "Closed",
};

const META = "meta";
const OF_META = Object.keys(opMetaEntries);

export function vocabularySchema(): { definitions: Json; $defs: Json } {
  const config = { ...LENIENT, definitions: SHAPES };
  const meta = described(toJsonSchema(v.object(opMetaEntries), config), META, SHAPE_WORDS);
  const $defs: Json = { ...toJsonSchema(Op, config).$defs };
  return {
    definitions: { op: messages(toJsonSchema(Op, config), OP_WORDS), event: messages(toJsonSchema(Event, config), EVENT_WORDS) },
    $defs: {
      Meta: { description: "Keys that every op and event may carry.", type: "object", properties: meta["properties"] },
      ...Object.fromEntries(
        Object.entries($defs).flatMap(([name, shape]) => (isRecord(shape) ? [[name, described(shape, name, SHAPE_WORDS)]] : [])),
      ),
    },
  };
}

/** One schema a type of message. */
function messages(whole: object, words: Words): Json {
  const { $schema: _schema, $defs: _defs, oneOf = [], ...schema }: Json = { ...whole };
  return {
    ...schema,
    oneOf: (Array.isArray(oneOf) ? oneOf : []).map((message: unknown) => (isRecord(message) ? ofMessage(message, words) : message)),
  };
}

function ofMessage(message: Json, words: Words): Json {
  const properties = isRecord(message["properties"]) ? message["properties"] : {};
  const type = isRecord(properties["type"]) ? String(properties["type"]["const"]) : "";
  const rest = Object.entries(properties).map(([key, value]): [string, unknown] => {
    const path = `${type}/${key}`;
    if (OF_META.includes(key) && words[path] === undefined) return [key, { $ref: `#/$defs/Meta/properties/${key}` }];
    return [key, isRecord(value) ? described(value, path, words) : value];
  });
  return { description: words[type], ...message, properties: Object.fromEntries(rest) };
}

/** Adds the description of the path to the schema, and those of the paths below to its keys. */
function described(schema: object, path: string, words: Words): Json {
  const description = path.includes("/") || words[path] !== undefined ? textOf(path, words) : undefined;
  const { $schema: _schema, $defs: _defs, ...whole } = below({ ...schema }, path, words);
  // A neighbour of `$ref` would be ignored.
  if (whole["$ref"] !== undefined) return { description, allOf: [whole] };
  return description === undefined ? whole : { description, ...whole };
}

function below(schema: Json, path: string, words: Words): Json {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, unknown] => {
      if (keyword === "properties" && isRecord(value))
        return [
          keyword,
          Object.fromEntries(
            Object.entries(value).map(([key, each]) => [key, isRecord(each) ? described(each, `${path}/${key}`, words) : each]),
          ),
        ];
      if (["oneOf", "anyOf"].includes(keyword) && Array.isArray(value))
        return [keyword, value.map((each: unknown) => (isRecord(each) ? below(each, path, words) : each))];
      return [keyword, ["items", "additionalProperties"].includes(keyword) && isRecord(value) ? below(value, path, words) : value];
    }),
  );
}

/** A description that is missing is a defect, which a test finds. */
function textOf(path: string, words: Words): string | undefined {
  if (path.endsWith("/type") && words[path] === undefined) return "The word for what this is.";
  const own = words[path];
  if (own !== undefined) return own;
  const alike = Object.keys(ALIKE).find((prefix) => path.startsWith(`${prefix}/`));
  return alike === undefined ? undefined : SHAPE_WORDS[`${ALIKE[alike]}${path.slice(alike.length)}`];
}
