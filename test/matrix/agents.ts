/** How the built command serves each dialect as a driven agent: its arguments, without those that the dialect adds itself. */

/** Everything asks, Read included, on every wire alike. */
const REHEARSAL = ["--provider", "rehearsal", "--approve-tools", "TodoWrite"];

export const agents: Readonly<Record<string, readonly string[]>> = {
  acp: ["acp", ...REHEARSAL],
  native: ["serve", "--dialect", "native", ...REHEARSAL],
  aionrs: REHEARSAL,
  ante: ["serve", ...REHEARSAL],
  codex: ["app-server", ...REHEARSAL],
  "aionrs@0.2": ["--dialect", "aionrs@0.2", ...REHEARSAL],
  claude: ["--dialect", "claude", ...REHEARSAL],
  qwen: REHEARSAL,
  "qwen-shipped": REHEARSAL,
  wayland: ["--dialect", "wayland", ...REHEARSAL],
  // Its wire has no approvals.
  agentproc: ["agentproc", "--provider", "rehearsal", "--yolo"],
  "agentproc@0.4": ["agentproc", ...REHEARSAL],
};

const NO_CONFIGURE = "no wire of AgentProc changes a session";
const NO_RETRYABLE = "an error line does not say whether another try is worth it";
const PER_TURN = "the end of a process is the end of a turn, not of the session";
const NO_APPROVALS = "wire 0.1 has no words for approvals";

/** What cannot be played with an agent whose wire has no words for it, by the scenario's name, and why. */
const UNPLAYED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "agentproc@0.4": {
    "a mode that asks nothing, and back": NO_CONFIGURE,
    "a provider error, and the next turn works": NO_RETRYABLE,
    "the driven agent is killed: one end, a clear error, nothing left behind": PER_TURN,
  },
  agentproc: {
    thinking: "wire 0.1 has no words for thinking",
    "a mode that asks nothing, and back": NO_CONFIGURE,
    "a provider error, and the next turn works": NO_RETRYABLE,
    "the driven agent is killed: one end, a clear error, nothing left behind": PER_TURN,
    "an approved tool": NO_APPROVALS,
    "a denied tool, and the model hears why": NO_APPROVALS,
    "two calls at once, answered in another order and differently": NO_APPROVALS,
    "an interrupt while a tool runs, which dies of it": NO_APPROVALS,
    "an interrupt while an approval waits, and an answer that comes too late": NO_APPROVALS,
    "prompts during a turn, which wait in order": NO_APPROVALS,
    "the end of input: what waits is denied, what is queued still runs, and then a clean exit": NO_APPROVALS,
    "a signal: the turn is interrupted and told so, children are dead": NO_APPROVALS,
    "a grant for a tool covers it and no more": NO_APPROVALS,
    "a grant for a category covers it and no more": NO_APPROVALS,
  },
};

export function isPlayed(drive: string, scenario: string): boolean {
  return UNPLAYED[drive]?.[scenario] === undefined;
}

/** What a relay must be told to drive it: sessions of some wires cannot be opened without a model. */
const NAMED: Readonly<Record<string, readonly string[]>> = { ante: ["--provider", "rehearsal", "--model", "rehearsal"] };

export function driving(drive: string): readonly string[] {
  return NAMED[drive] ?? [];
}

/** Whose wires carry no reason of a denial. */
export const withoutReasons: ReadonlySet<string> = new Set(["acp", "ante", "codex"]);

/** Whose wires ask about one call at a time. */
export const oneByOne: ReadonlySet<string> = new Set(["claude", "qwen-shipped"]);

/** Whose wires name the folder of every session; elsewhere it is that of the process. */
export const withFolder: ReadonlySet<string> = new Set(["acp"]);
