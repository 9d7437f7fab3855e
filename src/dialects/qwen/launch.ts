/** Qwen Code as a program, as its RFC describes it: the two formats. The other flags are those of `qwen-shipped`. */
import type { FormatChoice, Program } from "../kit/program.js";

export interface Formats {
  /** `text`: the command line has one prompt, and no host answers questions. */
  input: string;
  output: string;
}

const DEFAULTS: Formats = { input: "stream-json", output: "stream-json" };
const LINES = ["stream-json", "stream-chunk-json"];
const FORMATS = ["text", ...LINES];

export const program: Program = {
  name: "qwen",
  formats: {
    lines: LINES,
    flags: ["heartbeat"],
    unnamed: "stream-",
    problem,
    promptRecord: (prompt) => ({ input: { origin: "user", parts: [{ type: "text", text: prompt }] } }),
  },
  drive: { command: ["qwen"] },
};

export function readFormats(argv: readonly string[]): Formats {
  return { input: valueOf(argv, "--input-format") ?? DEFAULTS.input, output: valueOf(argv, "--output-format") ?? DEFAULTS.output };
}

export function writeFormats({ input, output }: Formats): string[] {
  return ["--input-format", input, "--output-format", output];
}

function valueOf(argv: readonly string[], flag: string): string | undefined {
  const at = argv.lastIndexOf(flag);
  return at === -1 ? undefined : argv[at + 1];
}

function problem({ input, output, isNamed, hasPrompt, has }: FormatChoice): string | undefined {
  if (!FORMATS.includes(input)) return `--input-format is ${FORMATS.join(", ")}, not '${input}'`;
  // `json` means the wire that Qwen Code shipped, unless another dialect is named.
  if (!FORMATS.includes(output))
    return `--output-format is ${(isNamed ? FORMATS : ["text", "json", ...LINES]).join(", ")}, not '${output}'`;
  const remedy = "add --output-format stream-json or stream-chunk-json";
  if (output === "text" && input !== "text") return `--input-format ${input} needs structured output: ${remedy}`;
  if (output === "text" && has("heartbeat")) return `--heartbeat needs structured output: ${remedy}`;
  if (output === "text" || input === "text" || !hasPrompt) return undefined;
  return `There is no place for a prompt here: with --input-format ${input} they come over the protocol`;
}
