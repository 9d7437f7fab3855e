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

/** By dialect; `control` are requirements that lean on most of the wire, and pass where a rule does not concern them. */
export const MUTANTS: readonly { dialect: string; words: readonly string[]; control: readonly string[]; mutants: readonly Mutant[] }[] = [
  { dialect: "aionrs", words: [], control: ["D1", "D3", "D5", "D16", "D20"], mutants: AIONRS },
  { dialect: "wayland", words: ["--dialect", "wayland"], control: ["D34", "D35", "D37", "D38", "D39"], mutants: WAYLAND },
];
