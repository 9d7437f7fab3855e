/** The flags of the command line that shape the wire. */

export interface Switches {
  /** Deltas of messages are written as they come. */
  partial: boolean;
  /** `document`: all lines as one, at the end. `value`: only the structured value. */
  format: "lines" | "document" | "value";
  /** The process runs one prompt and then exits. */
  isOneShot: boolean;
  /** The schema of the result that the model must hand over. */
  schema?: Record<string, unknown>;
  /** The mode by the host's name for it. */
  mode?: string;
}

export function readSwitches(argv: readonly string[]): Switches {
  const valueOf = (flag: string): string | undefined => argv.find((_, at) => argv[at - 1] === flag);
  const schema = valueOf("--json-schema");
  const mode = valueOf("--approval-mode");
  return {
    partial: argv.includes("--include-partial-messages"),
    isOneShot: valueOf("--input-format") === "text",
    format: FORMATS.get(valueOf("--output-format") ?? "") ?? "lines",
    ...(schema !== undefined && { schema: schemaOf(schema) }),
    ...(mode !== undefined && { mode }),
  };
}

const FORMATS: ReadonlyMap<string, Switches["format"]> = new Map([
  ["json", "document"],
  ["text", "value"],
]);

/** Reads a schema that the command line has checked: it is an object. */
function schemaOf(text: string): Record<string, unknown> {
  const schema: unknown = JSON.parse(text);
  return typeof schema === "object" && schema !== null ? { ...schema } : {};
}
