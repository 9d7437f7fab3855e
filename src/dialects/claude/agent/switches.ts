/** The words of the command line that are for the wire itself. */

export interface Switches {
  /** Pieces of messages go out as they come. */
  partial: boolean;
  /** `result`: the result alone, as one object. `value`: the result that a schema asked for, and nothing else. */
  format: "lines" | "result" | "value";
  isOneShot: boolean;
  /** The schema of the result that the model must hand over. */
  schema?: Record<string, unknown>;
  /** The mode by the host's name for it. */
  mode?: string;
}

export function readSwitches(argv: readonly string[]): Switches {
  const valueOf = (flag: string): string | undefined => {
    const inline = argv.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
    return inline ?? argv.find((_, at) => argv[at - 1] === flag);
  };
  const schema = valueOf("--json-schema");
  const mode = valueOf("--approval-mode") ?? valueOf("--permission-mode");
  return {
    partial: argv.includes("--include-partial-messages"),
    isOneShot: valueOf("--input-format") === "text",
    format: FORMATS.get(valueOf("--output-format") ?? "") ?? "lines",
    ...(schema !== undefined && { schema: schemaOf(schema) }),
    ...(mode !== undefined && { mode }),
  };
}

const FORMATS: ReadonlyMap<string, Switches["format"]> = new Map([
  ["json", "result"],
  ["text", "value"],
]);

/** The command line was read already, and its schema is an object. */
function schemaOf(text: string): Record<string, unknown> {
  const schema: unknown = JSON.parse(text);
  return typeof schema === "object" && schema !== null ? { ...schema } : {};
}
