/** The flags of the command line that shape the wire. */

export interface Switches {
  /** Deltas of messages are written as they come. */
  partial: boolean;
  /** `whole`: one JSON text at the end. `value`: only the structured value. */
  format: "lines" | "whole" | "value";
  /** The process runs one prompt and then exits. */
  isOneShot: boolean;
  /** The schema of the result that the model must hand over. */
  schema?: Record<string, unknown>;
  /** The mode by the host's name for it. */
  mode?: string;
}

export const NO_SWITCHES: Readonly<Switches> = { partial: false, isOneShot: false, format: "lines" };

/** `modes` are the flags for the mode, the first of which counts. */
export function readSwitches(argv: readonly string[], modes: readonly string[]): Switches {
  const schema = valueOf("--json-schema", argv);
  const mode = modes.map((flag) => valueOf(flag, argv)).find((name) => name !== undefined);
  return {
    partial: argv.includes("--include-partial-messages"),
    isOneShot: valueOf("--input-format", argv) === "text",
    format: FORMATS.get(valueOf("--output-format", argv) ?? "") ?? "lines",
    ...(schema !== undefined && { schema: schemaOf(schema) }),
    ...(mode !== undefined && { mode }),
  };
}

function valueOf(flag: string, argv: readonly string[]): string | undefined {
  const inline = argv.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
  return inline ?? argv.find((_, at) => argv[at - 1] === flag);
}

const FORMATS: ReadonlyMap<string, Switches["format"]> = new Map([
  ["json", "whole"],
  ["text", "value"],
]);

/** Reads a schema that the command line has checked: it is an object. */
function schemaOf(text: string): Record<string, unknown> {
  const schema: unknown = JSON.parse(text);
  return typeof schema === "object" && schema !== null ? { ...schema } : {};
}
