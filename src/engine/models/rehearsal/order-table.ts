/** The table of orders: verbs, the words that follow them, and the steps that they stand for. `docs/rehearsal.md` shows them to people. */
import { quoteForShell } from "./actions.js";
import { statusNamed } from "./faults.js";
import { MARK } from "./spans.js";
import { compileForm, type Situation, type Slots } from "./slots.js";
import { RESULT, type RecallWhat, type Step } from "./step.js";
import { NUMBER, numberOf } from "./words.js";

export interface Order {
  readonly verbs: string;
  readonly form: RegExp;
  /** Its verbs begin a new clause after "and", "then" or a comma. */
  readonly joins: boolean;
  /** "and" and commas after its verbs are part of its clause. */
  readonly takesList: boolean;
  /** Undefined when the words mean something else. */
  steps(slots: Slots, now: Situation, words: string): Step | Step[] | undefined;
}

const READ = "read|open|show|view|cat|look at|summari[sz]e|explain|what is in|what's in";
const AGENTS = "( (the|{count}))? (sub-?)?agents?( (to|with))?:?";
const EACH = "((all|every|each)( occurrences? of)? |the word )?";
const ERROR = "error|failure|limit|limited|overload(ed)?|unavailable|outage|timeout|[45]\\d\\d";

/** The first order that can be made of a clause wins, so the narrow forms stand first. */
export const ORDERS: readonly Order[] = [
  // Tools by name.
  order("call|use|invoke", " (the )?(tool )?{name}( tool)?( with)? (?=\\{){text}", call),
  order("call|use|invoke", " the tool {name}", call),
  order("fetch|download|visit|open|read|get", " {url}", ({ url }) => ({ do: "fetch", url: url.replace(/^www/, "https://www") })),
  list("ask|tell|have|spawn|start|use", `${AGENTS} {tasks}`, spawn),
  list("make|create|write|update", "( me)? (an?|the|my) (to-?do|task) ?list( (with|of|for))?:? {items}", todo),
  list("plan|todos?", "( the steps)?:? {items}", todo),

  // Files.
  order(READ, "( me)? the first( {count})? lines? of {file}", ({ file, count = 1 }) => ({ do: "read", files: [file], limit: count })),
  order(READ, "( me)? {files}", ({ files }) => ({ do: "read", files })),
  order("read|open|cat", "( the)? (?!it$){name}", ({ name }) => ({ do: "read", files: [name] })),
  order("copy|duplicate|(write|save) the contents? of", " {file} (to|into|as) {target}", copy),
  order("move|rename", " {file} (to|into|as) {target}", ({ file, target }) => shell("mv", [file, target])),
  order("delete|remove", " {files}", ({ files }) => shell("rm", files)),
  order("append|add", " to {file}:? {text}", ({ file, text }) => ({ do: "append", file, content: text })),
  order("append|add", " {content} to( the end of)? {file}", append),
  order("write|save|put", "( this| the following)? (in)?to {file}:? {text}", ({ file, text }) => ({ do: "write", file, content: text })),
  order("write|save|put", " {content} (to|into|in|as) {file}", write),
  order("create|make|write|save", " {file} (with|containing|saying|that says)( (the )?(text|content))?:? {content}", write),
  order("create|make|touch", " {file}", ({ file }) => ({ do: "write", file, content: "" })),
  order("replace", ` ${EACH}{text} (with|by) (the word )?{other}( in {file})?`, edit),
  order("change", ` ${EACH}{text} (to|into) {other}( in {file})?`, edit),

  // Commands and searches.
  order("run|execute", "( (the command|the following|this)( command)?)?:? (?!it$){command}", ({ command }) => ({ do: "run", command })),
  order("\\$", " {command}", ({ command }) => ({ do: "run", command })),
  begin("(?=\uE000c\\d+\uE001$){command}", ({ command }) => ({ do: "run", command })),
  order("find|list|show|glob", "( me)?( all)?( the)? {name}( files?)?( (in|under) {folder})?", globNamed),
  order("find|list|show", "( me)?( all)?( the)? files( (in|under) {folder})?", ({ folder }) => glob("**/*", folder)),
  order("find", ` (?!${MARK}){file}`, ({ file }) => glob(`**/${file}`, undefined)),
  order("search|grep", " {folder} for {text}", grep),
  order("search|grep|look|find", "( for)? {text}( (in|under) {folder})?", grep),

  // Speech.
  order("say|answer|reply|echo|repeat|print", "( with)?( exactly)?( the word)?:? {speech}", ({ speech }) => ({ do: "say", text: speech })),
  order("think", "( (hard|carefully))*( (about|of|over) {text})?", ({ text }) => ({ do: "think", about: text })),
  order("stream|send", " {count} (pieces?|chunks?|deltas?|words?|tokens?)( of {text})?", stream),
  order("count", "( up)?( from {count})? to {to}", ({ count = 1, to = 1 }) => ({ do: "count", from: count, to })),
  order("count", "( down)? from {count}( (down )?to {to})?", ({ count = 1, to = 1 }) => ({ do: "count", from: count, to })),

  // Time and trouble.
  order("wait|sleep|pause", "( for)? {count} (?:ms|milliseconds?)", ({ count = 1 }) => ({ do: "wait", ms: count })),
  order("wait|sleep|pause", "( for)? {count} (?:s|seconds?)", ({ count = 1 }) => ({ do: "wait", ms: count * 1000 })),
  order("wait|sleep|pause", "( for)? {count} minutes?", ({ count = 1 }) => ({ do: "wait", ms: count * 60_000 })),
  order("wait|sleep|hang", " (forever|until .+)", () => ({ do: "wait", ms: "forever" })),
  order("hang", "", () => ({ do: "wait", ms: "forever" })),
  order("fail", "( .+)?", (_slots, _now, words) => fail(words)),
  order("simulate|pretend|act|hit", ` .*\\b(${ERROR})\\b.*`, (_slots, _now, words) => fail(words)),
  order("cut|drop|break|lose", "( off)?( the)? (stream|connection|answer)", () => ({ do: "cut" })),

  // Memory.
  order("remember|memori[sz]e", "( that)? (my|the) {fact} (is|are) {text}", remember),
  order("remember|memori[sz]e", "( the| this)? {known}( is)?:? {text}", remember),
  order("remember|memori[sz]e", "( that)?:? {text}", remember),
  begin("my {fact} (is|are) {text}", remember),
  order("what", "( (is|was) the)? {known}( did i (tell|ask) you( to remember)?| i told you)?", ({ fact }) => recall({ fact })),
  order("what", " did i (tell|ask) you to remember", ({ fact }) => recall({ fact })),
  order("what", " did i (say|ask|write) (first|at the (start|beginning))", () => recall("first")),
  order("what", " (did i (say|ask|write)|was my (last|previous) (message|prompt|order))( before| last)?", () => recall("previous")),
  order("what", " (do you know|context do you have)", () => recall("context")),
  order("what", " (is attached|did i attach)", () => recall("attachments")),
  order("what is|what's|do you (know|remember)", " my {fact}", ({ fact }) => recall({ fact })),
  order("summari[sz]e", " (the|this|our) (conversation|session|chat)( so far)?", () => recall("conversation")),

  // Talk.
  begin("help|what can you do|who are you", () => ({ do: "help" })),
  begin("(do|follow) .*:", () => []),
  begin("(hi|hello|hey|good (morning|evening)|thanks|thank you)( there| parley)?", () => ({ do: "greet" })),
  order("tell|report|show|explain|summari[sz]e|describe", " .+", (_slots, { steps }) => (steps.length > 0 ? [] : undefined)),
];

function order(verbs: string, rest: string, steps: Order["steps"]): Order {
  return { verbs, form: compileForm(`(${verbs})${rest}`), joins: true, takesList: false, steps };
}

function list(verbs: string, rest: string, steps: Order["steps"]): Order {
  return { ...order(verbs, rest, steps), takesList: true };
}

/** An order that joins no others: in "say this, hello" the last word is said. */
function begin(form: string, steps: Order["steps"]): Order {
  return { ...order("", form, steps), joins: false };
}

function call({ name, text }: Slots): Step {
  return { do: "call", tool: name, args: text === "" ? {} : text };
}

function todo({ items }: Slots): Step | undefined {
  return items.length === 0 ? undefined : { do: "todo", items };
}

const MOST_AGENTS = 100;

/** One task a sub-agent; with another number of tasks than sub-agents each gets all of the words. */
function spawn({ tasks, task, count = 1 }: Slots): Step {
  const length = Math.min(Math.max(count, 1), MOST_AGENTS);
  const prompts = tasks.length === length ? tasks : Array.from({ length }, () => task);
  return { do: "spawn", tasks: prompts.map((prompt, index) => ({ name: `agent-${index + 1}`, prompt })) };
}

function copy({ file, target }: Slots): Step[] {
  return [
    { do: "read", files: [file] },
    { do: "write", file: target, content: RESULT },
  ];
}

function write({ file, content }: Slots): Step {
  return { do: "write", file, content };
}

function append({ file, content }: Slots): Step {
  return { do: "append", file, content };
}

function edit({ file, text, other }: Slots, _now: Situation, words: string): Step | undefined {
  const all = /^\w+\s+(?:all|every|each)\s/i.test(words);
  return file === "" ? undefined : { do: "edit", file, from: text, to: other, ...(all && { all }) };
}

function shell(program: string, files: readonly string[]): Step {
  return { do: "run", command: [program, "--", ...files.map(quoteForShell)].join(" ") };
}

function globNamed({ name, folder }: Slots): Step | undefined {
  return /[*?]/.test(name) ? glob(name.includes("/") ? name : `**/${name}`, folder) : undefined;
}

function glob(pattern: string, folder: string | undefined): Step {
  return { do: "glob", pattern, ...(folder !== undefined && { path: folder }) };
}

function grep({ text, folder }: Slots): Step {
  return { do: "grep", pattern: text, ...(folder !== undefined && { path: folder }) };
}

function stream({ count = 1, text }: Slots): Step {
  return { do: "stream", pieces: count, text: text === "" ? "word " : text };
}

function remember({ fact, text }: Slots): Step {
  return { do: "remember", fact, value: text.replace(/[.!]+$/, "") };
}

function recall(what: RecallWhat): Step {
  return { do: "recall", what };
}

const TIMES = new RegExp(`\\b(?:(once|twice)|(${NUMBER}) times)\\b`, "i");

/** "once", "twice" and "3 times" count the failures. */
function fail(words: string): Step {
  const status = statusNamed(words);
  const [, once, times = once] = TIMES.exec(words) ?? [];
  return { do: "fail", ...(status !== undefined && { status }), ...(times !== undefined && { times: numberOf(times) }) };
}
