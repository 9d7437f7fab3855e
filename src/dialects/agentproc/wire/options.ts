/** The wire of AgentProc, and the options of a profile for it. */

/** `auto`: the agent gets the input of all wires, and its first line tells its wire. */
export type WireVersion = "0.1" | "0.2" | "0.3" | "0.4" | "auto";
export const WIRES: readonly WireVersion[] = ["0.1", "0.2", "0.3", "0.4", "auto"];

export function isWire(name: string): name is WireVersion {
  return WIRES.some((wire) => wire === name);
}

export interface AgentprocOptions {
  wire: WireVersion;
  /** False: partials are dropped. */
  streaming?: boolean;
  /** The agent may ask for permissions; its input stays open for the answers. Wire 0.1 has no permissions. */
  permission?: boolean;
  /**
   * The user did not say that the agent asks: only the turn of 0.4 offers it. The agent's input ends with its first line of 0.1, or after
   * QUIET_SECONDS of silence, because it may wait for that end.
   */
  unsure?: boolean;
  /** Wires 0.1 and 0.2: `message` also puts the message on the input, which is empty otherwise. */
  stdin?: "none" | "message";
  /** Another beginning of session lines beside AGENT_SESSION: */
  sessionPrefix?: string;
  /** The program whose own JSON lines the output is, in place of those of the wire. */
  output?: ProgramOutput | undefined;
}

/** Programs whose JSON lines of one turn are known: `gemini --output-format stream-json` and `pi --mode json`. */
export type ProgramOutput = "gemini" | "pi";
export const PROGRAM_OUTPUTS: readonly ProgramOutput[] = ["gemini", "pi"];

export const QUIET_SECONDS = 10;

export type Options = Required<Omit<AgentprocOptions, "output">> & { output: ProgramOutput | undefined };

export function withDefaults({
  wire,
  streaming = true,
  permission = false,
  unsure = false,
  stdin = "none",
  sessionPrefix = "",
  output,
}: AgentprocOptions): Options {
  return {
    wire,
    streaming,
    permission: permission && wire !== "0.1",
    unsure,
    stdin: wire === "auto" ? "none" : stdin,
    sessionPrefix,
    output,
  };
}

/** Whether the output is lines of text rather than objects, as far as the wire alone tells. */
export function speaksLines(wire: WireVersion): boolean {
  return wire === "0.1" || wire === "0.2";
}

export function speaksRecords(wire: WireVersion): boolean {
  return wire === "0.3" || wire === "0.4";
}
