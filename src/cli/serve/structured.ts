/** Structured input and output on the command line: formats, prompt and heartbeat. */
import * as v from "valibot";
import { messageOf } from "../../core/errors.js";
import { isRecord } from "../../core/values/json-object.js";
import type { Formats } from "../../dialects/kit/program.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { text, usage, type Parsed } from "../command-line/flags.js";
import { refuseAttachments } from "../one-shot/flags.js";
import { LastMessage } from "../one-shot/last-message.js";
import { serveStdio } from "./stdio.js";
import type { Onlookers } from "./serving.js";
import { beatSecondsOf, formatSwitches, sessionFlags } from "./structured-flags.js";

/** `id` is the dialect to speak, and `formats` its choice of formats. With text in, the prompt is all the input. */
export async function runStructured(
  id: string,
  formats: Formats,
  parsed: Parsed,
  load: () => Promise<Loaded>,
  env: Env,
  onlookers: Onlookers,
): Promise<number> {
  const beatSeconds = beatSecondsOf(parsed);
  const switches = [...formatSwitches(parsed), ...(await schemaSwitch(parsed, formats))];
  const asked = { switches, config: await sessionFlags(parsed, id), beatSeconds };
  if ((text(parsed, "input-format") ?? "text") !== "text") {
    refuseAttachments(parsed, "over the protocol files come with their prompts");
    return serveStdio(id, load, env, onlookers, asked);
  }
  const [{ readPrompt }, { checkMentions }] = await Promise.all([import("../one-shot/prompt.js"), import("../one-shot/mentions.js")]);
  const prompt = await readPrompt(parsed);
  const checked = async (): Promise<Loaded> => {
    const loaded = await load();
    // The folder of a stored session is not known yet.
    if (loaded.settings.resume === undefined) await checkMentions(prompt, loaded.settings);
    return loaded;
  };
  const last = new LastMessage(text(parsed, "last-message"));
  const onRecord = (record: unknown): void => last.is(formats.messageIn?.(record));
  const records = [formats.promptRecord(prompt.text)];
  const code = await serveStdio(id, checked, env, onlookers, { ...asked, records, attached: prompt.attached, onRecord });
  await last.write(code === 0);
  return code;
}

async function schemaSwitch(parsed: Parsed, { flags }: Formats): Promise<string[]> {
  const schema = flags.includes("json-schema") ? text(parsed, "json-schema") : undefined;
  return schema === undefined ? [] : ["--json-schema", await schemaText(schema)];
}

async function schemaText(value: string): Promise<string> {
  const [{ fileText }, { argumentCheck }] = await Promise.all([
    import("../command-line/asked-config.js"),
    import("../../engine/calls/argument-check.js"),
  ]);
  const json = value.startsWith("@") ? await fileText(value.slice(1), "--json-schema") : value;
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), v.custom<Record<string, unknown>>(isRecord)), json);
  if (!read.success) throw usage("--json-schema must be a JSON Schema as a JSON object, or @FILE");
  const schema = { type: "object", ...read.output };
  if (schema.type !== "object") throw usage("--json-schema must describe an object: a model hands its result over as named values");
  await argumentCheck(schema).catch((error: unknown) => {
    throw usage(`--json-schema: ${messageOf(error)}`);
  });
  return JSON.stringify(schema);
}
