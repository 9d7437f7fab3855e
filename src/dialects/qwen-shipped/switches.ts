/** What the command line says to the wire itself. */

export interface Switches {
  /** Pieces of messages as they come. */
  partial: boolean;
  /** `document`: everything in one line, at the end. */
  format: "lines" | "document";
  /** There is one prompt, and when it is answered that is the end. */
  isOneShot: boolean;
  /** Of the result that the model must hand over. */
  schema?: Record<string, unknown>;
  /** The mode as it was called. */
  mode?: string;
  fork?: boolean;
}

export function readSwitches(argv: readonly string[]): Switches {
  const valueOf = (flag: string): string | undefined => argv.find((_, at) => argv[at - 1] === flag);
  const schema = valueOf("--json-schema");
  const mode = valueOf("--approval-mode");
  return {
    partial: argv.includes("--include-partial-messages"),
    isOneShot: valueOf("--input-format") === "text",
    format: valueOf("--output-format") === "json" ? "document" : "lines",
    ...(schema !== undefined && { schema: schemaOf(schema) }),
    ...(mode !== undefined && { mode }),
    ...(argv.includes("--fork-session") && { fork: true }),
  };
}

/** The command line was read already, and its schema is an object. */
function schemaOf(text: string): Record<string, unknown> {
  const schema: unknown = JSON.parse(text);
  return typeof schema === "object" && schema !== null ? { ...schema } : {};
}
