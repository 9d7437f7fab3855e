/** Qwen's structured input and output on the command line: which formats, where the prompt comes from, and how often there is a sign of life. */
import { writeFormats } from "../../dialects/qwen/launch.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { given, promptWords, text, usage, type Parsed } from "../command-line/flags.js";
import { serveStdio } from "./stdio.js";
import type { Onlookers } from "./serving.js";
import { beatSecondsOf, sessionFlags } from "./structured-flags.js";

const FORMATS = ["text", "stream-json", "stream-chunk-json"];

interface Structured {
  input: string;
  output: string;
  beatSeconds: number | undefined;
}

/** Undefined for people: text in and text out. */
export function structured(parsed: Parsed): Structured | undefined {
  const input = formatOf(parsed, "input-format");
  const output = formatOf(parsed, "output-format");
  if (output === "text" && input !== "text")
    throw usage(`--input-format ${input} needs structured output: add --output-format stream-json or stream-chunk-json`);
  const beatSeconds = beatSecondsOf(parsed);
  if (output !== "text") return { input, output, beatSeconds };
  if (beatSeconds !== undefined) throw usage("--heartbeat needs structured output: add --output-format stream-json or stream-chunk-json");
  return undefined;
}

/** With text in, the prompt is all there is to hear. */
export async function runStructured(
  { input, output, beatSeconds }: Structured,
  parsed: Parsed,
  load: () => Promise<Loaded>,
  env: Env,
  onlookers: Onlookers,
): Promise<number> {
  const id = text(parsed, "dialect") ?? "qwen";
  const prompt = promptWords(parsed);
  const switches = writeFormats({ input, output });
  const asked = { switches, config: await sessionFlags(parsed), fork: given(parsed, "fork-session"), beatSeconds };
  if (input === "text") {
    const { promptOf } = await import("../command-line/piped-prompt.js");
    return serveStdio(id, load, env, onlookers, { ...asked, records: [chatRequest(await promptOf(prompt))] });
  }
  if (prompt !== undefined) throw usage(`There is no place for a prompt here: with --input-format ${input} they come over the protocol`);
  return serveStdio(id, load, env, onlookers, asked);
}

function chatRequest(prompt: string): unknown {
  return { input: { origin: "user", parts: [{ type: "text", text: prompt }] } };
}

function formatOf(parsed: Parsed, flag: string): string {
  if (!given(parsed, flag)) return "text";
  const format = text(parsed, flag) ?? "";
  if (FORMATS.includes(format)) return format;
  // `json` asks for the wire that Qwen Code shipped, unless another one is named.
  const known = flag === "output-format" && !given(parsed, "dialect") ? FORMATS.toSpliced(1, 0, "json") : FORMATS;
  throw usage(`--${flag} is ${known.join(", ")}, not '${format}'`);
}
