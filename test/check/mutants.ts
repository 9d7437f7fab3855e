/** Agents that break one rule, and the requirement that each must fail. */
export interface Mutant {
  /** The name of the rule in test/fixtures/mutant.mjs. */
  rule: string;
  breaks: string;
  /** Requirements that need the same rule, and may fail with it. */
  also?: readonly string[];
  /** The expected thing never comes. */
  isSilent?: true;
}

const AIONRS: readonly Mutant[] = [
  { rule: "ready twice", breaks: "D1" },
  { rule: "a session id without sessions", breaks: "D2" },
  { rule: "a piece of the text is missing", breaks: "D3" },
  { rule: "words that are a number", breaks: "D3" },
  { rule: "stream_end twice", breaks: "D3", also: ["D4", "D16"] },
  { rule: "stream_end without usage", breaks: "D3", also: ["D4"] },
  { rule: "another message's id", breaks: "D4", also: ["D16"] },
  { rule: "runs before the answer", breaks: "D5", also: ["D15", "D18"] },
  { rule: "a category that is a number", breaks: "D5" },
  { rule: "another reason", breaks: "D6" },
  { rule: "always is once", breaks: "D7", also: ["D12"] },
  { rule: "always is everything", breaks: "D8", also: ["D12"] },
  { rule: "once is always", breaks: "D9", also: ["D15"] },
  { rule: "auto_edit is yolo", breaks: "D10" },
  { rule: "yolo is nothing", breaks: "D11" },
  { rule: "default is nothing", breaks: "D12" },
  { rule: "--auto-approve is nothing", breaks: "D13" },
  { rule: "one answer at a time", breaks: "D15", isSilent: true },
  { rule: "a stopped text ends twice", breaks: "D16" },
  { rule: "stop leaves commands alone", breaks: "D17", isSilent: true },
  { rule: "stop leaves requests open", breaks: "D18" },
  { rule: "a bad line is an internal error", breaks: "D19" },
  { rule: "an unknown command without its name", breaks: "D20" },
  { rule: "a line without a type is an internal error", breaks: "D21" },
  { rule: "a message without an id is an internal error", breaks: "D22" },
  { rule: "a rate limit for good", breaks: "D23" },
  { rule: "a refused key for now", breaks: "D24" },
  { rule: "a failure is a success", breaks: "D25" },
  { rule: "--resume is nothing", breaks: "D26" },
  { rule: "history is nothing", breaks: "D27" },
  { rule: "files are nothing", breaks: "D28" },
  { rule: "a diff is text", breaks: "D29" },
  { rule: "SIGTERM is nothing", breaks: "D30", isSilent: true },
  { rule: "a long output is whole", breaks: "D31" },
  { rule: "a character ends the line", breaks: "D32", isSilent: true },
  { rule: "--workspace is nothing", breaks: "D33" },
];

const WAYLAND: readonly Mutant[] = [
  { rule: "a flag that is off is told", breaks: "D34" },
  { rule: "force is nothing", breaks: "D35" },
  { rule: "no pong while a request waits", breaks: "D37", isSilent: true },
  { rule: "set_config is nothing", breaks: "D38" },
  { rule: "a piece of the text is missing", breaks: "D39" },
];

const ANTE: readonly Mutant[] = [
  { rule: "no Error: JSON", breaks: "N1" },
  { rule: "an exit code of 1", breaks: "N3", also: ["N62"] },
  { rule: "another parent", breaks: "N4" },
  { rule: "an unknown key in an operation is an Error", breaks: "N8" },
  { rule: "no Error: allowed_tools", breaks: "N9" },
  { rule: "an unknown key beside an operation is an Error", breaks: "N10" },
  { rule: "no Error: invalid ULID", breaks: "N11", also: ["N15", "N53"] },
  { rule: "no Error: missing separator", breaks: "N12" },
  { rule: "no Error: invalid ULID", breaks: "N15", also: ["N11", "N53"] },
  { rule: "no Error: expected a string", breaks: "N16" },
  { rule: "no Error: missing field", breaks: "N17" },
  { rule: "no Error: unknown variant", breaks: "N20" },
  { rule: "no Error: needs something", breaks: "N21" },
  { rule: "no Error: not 2", breaks: "N22" },
  { rule: "no Error: not 0", breaks: "N23" },
  { rule: "no Error: Invalid UserInput", breaks: "N24" },
  { rule: "no Error: there is no session", breaks: "N25" },
  { rule: "an idle Interrupt is an Error", breaks: "N26" },
  { rule: "words without their input", breaks: "N28" },
  { rule: "everything streams", breaks: "N29" },
  { rule: "a delta is missing", breaks: "N30" },
  { rule: "a call ends in its pause", breaks: "N31" },
  { rule: "Accept is Skip", breaks: "N32" },
  { rule: "Skip is Accept", breaks: "N33" },
  { rule: "Abort is Skip", breaks: "N34" },
  { rule: "no Error: Invalid ApprovalResponse", breaks: "N39", also: ["N40"] },
  { rule: "no Error: Accept", breaks: "N40", also: ["N39"] },
  { rule: "the policy is nothing", breaks: "N43" },
  { rule: "an interrupted turn ends twice", breaks: "N44" },
  { rule: "no Error: Invalid UpdateSession", breaks: "N51" },
  { rule: "no Error: Failed to resume", breaks: "N53" },
  { rule: "no SessionEnd", breaks: "N62", also: ["N81"] },
  { rule: "each session has the same id", breaks: "N81" },
  { rule: "another prefix of ids", breaks: "N84", also: ["N4", "N28"] },
  { rule: "times of another zone", breaks: "N85", also: ["N4", "N28"] },
];

/** By dialect; `control` are requirements that lean on most of the wire, and pass where a rule does not concern them. */
export const MUTANTS: readonly { dialect: string; words: readonly string[]; control: readonly string[]; mutants: readonly Mutant[] }[] = [
  { dialect: "aionrs", words: [], control: ["D1", "D3", "D5", "D16", "D20"], mutants: AIONRS },
  { dialect: "wayland", words: ["--dialect", "wayland"], control: ["D34", "D35", "D37", "D38", "D39"], mutants: WAYLAND },
  { dialect: "ante", words: [], control: ["N1", "N3", "N4", "N20", "N28", "N32"], mutants: ANTE },
];
