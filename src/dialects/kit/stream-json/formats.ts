/** The formats of command lines of this family: lines in and out, or one document at the end. */
import type { FormatChoice, Formats } from "../program.js";

const INPUTS = ["text", "stream-json"];
const OUTPUTS = ["text", "json", "stream-json"];

export const STREAM_JSON: Omit<Formats, "problem"> = {
  lines: ["stream-json"],
  documents: ["json", "text"],
  flags: ["include-partial-messages", "json-schema"],
  promptRecord: (prompt) => ({ type: "user", message: { role: "user", content: prompt } }),
};

/** Why formats do not go together, whoever refuses them. */
export function formatProblem({ input, output, has }: FormatChoice): string | undefined {
  if (!INPUTS.includes(input)) return `--input-format must be one of ${INPUTS.join(", ")}, not '${input}'`;
  if (!OUTPUTS.includes(output)) return `--output-format must be one of ${OUTPUTS.join(", ")}, not '${output}'`;
  if (input === "stream-json" && output !== "stream-json") return "--input-format stream-json needs --output-format stream-json";
  if (has("include-partial-messages") && output !== "stream-json") return "--include-partial-messages needs --output-format stream-json";
  return undefined;
}

/** Why a prompt on the command line cannot be taken. */
export function promptProblem({ input, hasPrompt }: FormatChoice): string | undefined {
  if (input === "text" || !hasPrompt) return undefined;
  return `With --input-format ${input} prompts come over the protocol, not on the command line`;
}
