/** The wire that Qwen Code shipped, as its command line asks for it: which formats, one prompt or many, and what else a session is told. */
import * as v from "valibot";
import { messageOf } from "../../core/errors.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { isRecord } from "../../core/json-object.js";
import { given, promptWords, text, usage, type Parsed } from "../command-line/flags.js";
import { serveStdio } from "./stdio.js";
import type { Onlookers } from "./serving.js";
import { sessionFlags } from "./structured-flags.js";

export async function runShipped(parsed: Parsed, load: () => Promise<Loaded>, env: Env, onlookers: Onlookers): Promise<number> {
  const input = text(parsed, "input-format") ?? "text";
  const output = text(parsed, "output-format") ?? "text";
  refuseFormats(input, output, parsed);
  const switches = await switchesOf(parsed, input, output);
  const asked = { config: await sessionFlags(parsed), switches, fork: given(parsed, "fork-session") };
  if (input !== "text") return serveStdio("qwen-shipped", load, env, onlookers, asked);
  const { promptOf } = await import("../command-line/piped-prompt.js");
  const prompt = await promptOf(promptWords(parsed));
  return serveStdio("qwen-shipped", load, env, onlookers, {
    ...asked,
    records: [{ type: "user", message: { role: "user", content: prompt } }],
  });
}

const INPUTS = ["text", "stream-json"];
const OUTPUTS = ["text", "json", "stream-json"];

function refuseFormats(input: string, output: string, parsed: Parsed): void {
  if (!INPUTS.includes(input)) throw usage(`--input-format must be one of ${INPUTS.join(", ")}, not '${input}'`);
  if (!OUTPUTS.includes(output)) throw usage(`--output-format must be one of ${OUTPUTS.join(", ")}, not '${output}'`);
  if (input === "stream-json" && output !== "stream-json") throw usage("--input-format stream-json needs --output-format stream-json");
  if (given(parsed, "include-partial-messages") && output !== "stream-json")
    throw usage("--include-partial-messages needs --output-format stream-json");
  if (input === "text") return;
  if (given(parsed, "json-schema")) throw usage("--json-schema is for one prompt; it does not go with --input-format stream-json");
  if (given(parsed, "print") || parsed.positionals.length > 0)
    throw usage(`With --input-format ${input} prompts come over the protocol, not on the command line`);
}

async function switchesOf(parsed: Parsed, input: string, output: string): Promise<string[]> {
  const mode = text(parsed, "mode-name");
  const schema = text(parsed, "json-schema");
  const formats = ["--input-format", input, "--output-format", output];
  return [
    ...formats,
    ...(given(parsed, "include-partial-messages") ? ["--include-partial-messages"] : []),
    ...(mode === undefined ? [] : ["--approval-mode", mode]),
    ...(schema === undefined ? [] : ["--json-schema", await schemaText(schema)]),
  ];
}

async function schemaText(given: string): Promise<string> {
  const [{ fileText }, { argumentCheck }] = await Promise.all([
    import("../command-line/asked-config.js"),
    import("../../engine/calls/argument-check.js"),
  ]);
  const json = given.startsWith("@") ? await fileText(given.slice(1), "--json-schema") : given;
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), v.custom<Record<string, unknown>>(isRecord)), json);
  if (!read.success) throw usage("--json-schema must be a JSON Schema as a JSON object, or @FILE");
  const schema = { type: "object", ...read.output };
  if (schema.type !== "object") throw usage("--json-schema must describe an object: a model hands its result over as named values");
  await argumentCheck(schema).catch((error: unknown) => {
    throw usage(`--json-schema: ${messageOf(error)}`);
  });
  return JSON.stringify(schema);
}
