/**
 * The schema of a config file: the rows of the table, and LISTS. Every message says what a value must do ("be a list"), because
 * core/values/value-issues.ts makes the sentence. `${VAR}` in an MCP server's args, env, url and headers and in a provider's headers stays as
 * written: the user of the value expands it, so nothing of a workspace is expanded before the workspace is trusted.
 */
import * as v from "valibot";
import type { Rule as CoreRule } from "../core/config.js";
import { byHookEvent, isMatch } from "../core/hooks.js";
import { OwnProviders } from "../core/providers/own-provider.js";
import { anyText, between, oneOf, text, textByName, texts } from "../core/values/value-schemas.js";
import { ROWS, ruleText, type LISTS, type SettingKey, type TABLE } from "./table.js";

/** The longest time that setTimeout can wait. */
const MAX_MILLISECONDS = 2_147_483_647;
const milliseconds = between(1, MAX_MILLISECONDS);

const Rule = v.pipe(
  v.strictObject(
    { deny: v.optional(ruleText), ask: v.optional(ruleText), allow: v.optional(ruleText) },
    "be a mapping with deny, ask or allow",
  ),
  v.rawTransform(({ dataset, addIssue, NEVER }): CoreRule => {
    const { deny, ask, allow } = dataset.value;
    const given = [deny, ask, allow].filter((rule) => rule !== undefined);
    if (given.length === 1) {
      if (deny !== undefined) return { deny };
      if (ask !== undefined) return { ask };
      if (allow !== undefined) return { allow };
    }
    addIssue({ message: "have exactly one of deny, ask and allow" });
    return NEVER;
  }),
);

const McpServer = v.pipe(
  v.strictObject(
    {
      type: v.optional(oneOf(["stdio", "http", "streamable-http", "sse"])),
      command: v.optional(text),
      args: v.optional(v.array(anyText, "be a list of texts")),
      env: v.optional(textByName),
      url: v.optional(text),
      headers: v.optional(textByName),
      enabledTools: v.optional(texts),
      timeoutMs: v.optional(milliseconds),
    },
    "be a mapping",
  ),
  v.check((server) => (server.command === undefined) !== (server.url === undefined), "have either a command or a url"),
);
export type McpServer = v.InferOutput<typeof McpServer>;

const hookEntries = {
  command: v.pipe(texts, v.nonEmpty("be a list with the program first")),
  timeoutMs: v.optional(milliseconds),
};
const Hooks = v.optional(v.array(v.strictObject(hookEntries, "be a mapping"), "be a list of hooks"));

/** Only a hook of a tool can match tools. */
const ToolHook = v.strictObject(
  { match: v.optional(v.pipe(text, v.check(isMatch, "be Tool or Tool(pattern), or several of them joined by |"))), ...hookEntries },
  "be a mapping",
);
export type Hook = v.InferOutput<typeof ToolHook>;
const ToolHooks = v.optional(v.array(ToolHook, "be a list of hooks"));

const lists = {
  rules: v.optional(v.array(Rule, "be a list of rules")),
  mcpServers: v.optional(v.record(text, McpServer, "be a mapping of servers")),
  hooks: v.optional(
    v.strictObject(
      byHookEvent((_, { ofCall }) => (ofCall === true ? ToolHooks : Hooks)),
      "be a mapping of lists of hooks",
    ),
  ),
  providers: v.optional(OwnProviders),
} satisfies Record<keyof typeof LISTS, v.GenericSchema>;

export const Config = v.strictObject({ ...singles(), ...lists }, "be a mapping of settings");
export type Config = v.InferOutput<typeof Config>;

type Table = typeof TABLE;
type Entry<K extends SettingKey> = v.OptionalSchema<Table[K]["schema"], undefined>;
type GroupEntries<G extends string> = {
  [K in SettingKey as Table[K] extends { file: `${G}.${infer Name}` } ? Name : never]: Entry<K>;
};
type Singles = {
  [K in SettingKey as Table[K] extends { file: infer F extends string } ? (F extends `${string}.${string}` ? never : F) : never]: Entry<K>;
} & {
  sandbox: v.OptionalSchema<v.StrictObjectSchema<GroupEntries<"sandbox">, string>, undefined>;
  sessions: v.OptionalSchema<v.StrictObjectSchema<GroupEntries<"sessions">, string>, undefined>;
  env: v.OptionalSchema<v.StrictObjectSchema<GroupEntries<"env">, string>, undefined>;
  limits: v.OptionalSchema<v.StrictObjectSchema<GroupEntries<"limits">, string>, undefined>;
};

/** The rows of the table that have a key in a file, nested by their key paths. */
function singles(): Singles {
  const entries: Record<string, v.GenericSchema> = {};
  const groups = new Map<string, Record<string, v.GenericSchema>>();
  for (const [, { file, schema }] of ROWS) {
    const [first, name] = file?.split(".") ?? [];
    if (first === undefined) continue;
    if (name === undefined) entries[first] = v.optional(schema);
    else groups.set(first, { ...groups.get(first), [name]: v.optional(schema) });
  }
  for (const [group, within] of groups) entries[group] = v.optional(v.strictObject(within, "be a mapping"));
  return entries as unknown as Singles;
}
