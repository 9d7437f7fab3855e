/** The switches of the command line that are meant for the wire. */

export interface Switches {
  /** Pieces of messages as they come. */
  partial: boolean;
  /** `document`: everything in one line, at the end. `value`: nothing but the result that a schema asked for. */
  format: "lines" | "document" | "value";
  /** The process runs one prompt and then leaves. */
  isOneShot: boolean;
  /** The schema of the result that the model must hand over. */
  schema?: Record<string, unknown>;
  /** The mode as it was called. */
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

/** The command line was read already, and its schema is an object. */
function schemaOf(text: string): Record<string, unknown> {
  const schema: unknown = JSON.parse(text);
  return typeof schema === "object" && schema !== null ? { ...schema } : {};
}
