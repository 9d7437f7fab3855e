/** The flags of the command line that shape the wire. */

export interface Switches {
  /** Deltas of messages are written as they come. */
  partial: boolean;
  /** `result`: only the result, as one object. `value`: only the structured value. */
  format: "lines" | "result" | "value";
  isOneShot: boolean;
  /** Each prompt is said again when its turn begins. */
  replays: boolean;
  /** The host hears when the session runs, waits for it, and rests. */
  tellsStates: boolean;
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
    replays: argv.includes("--replay-user-messages"),
    tellsStates: argv.includes("--session-states"),
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

/** Reads a schema that the command line has checked: it is an object. */
function schemaOf(text: string): Record<string, unknown> {
  const schema: unknown = JSON.parse(text);
  return typeof schema === "object" && schema !== null ? { ...schema } : {};
}
