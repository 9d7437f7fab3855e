/** Cuts an order into clauses, one for each thing asked: "read a.txt, then write its content to b.txt" is two. Drops politeness. */
import { pattern } from "./rule.js";
import { QUOTED, type Marked } from "./spans.js";

export function clausesOf(marked: Marked): string[] {
  const text = blocksMarked(marked)
    .replaceAll(BLANKS, (blanks) => (blanks.includes("\n") ? "\n" : " "))
    .replace(BULLET, "");
  const clauses: string[] = [];
  let from = 0;
  for (const match of text.matchAll(BOUNDARY)) {
    const [separator, punctuation = "", connective = ""] = match;
    if (!separates(bare(text.slice(from, match.index)), punctuation, connective)) continue;
    clauses.push(text.slice(from, match.index));
    from = match.index + separator.length;
  }
  clauses.push(text.slice(from));
  return clauses.map(bare).filter((clause) => clause !== "");
}

/** Words that an order starts with; only before one of these does a clause end. */
const OPENERS = [
  "read|open|show|cat|print|display|view|look|write|create|save|put|make|store|append|add|insert|edit|replace|change|update|substitute|fix|clear",
  "run|execute|exec|search|grep|find|list|glob|fetch|download|visit|ask|spawn|launch|delegate|think|ponder",
  "say|reply|answer|respond|repeat|echo",
  "stream|count|wait|sleep|pause|hang|fail|simulate|pretend|cut|disconnect|drop|break|call|use|invoke|remember|memori[sz]e|copy|duplicate",
  "move|rename|delete|remove|tell|summari[sz]e|explain|describe|report|touch|finish|end|succeed",
  "recover|plan|what|who|which|where|my name is|\\$",
].join("|");

const FILLERS = [
  "please|kindly|now|ok(?:ay)?|well|just|also|first(?:ly)?|second(?:ly)?|third(?:ly)?|next|finally|lastly|again|quickly|simply|so",
  "(?:could|can|would|will) you(?: please| kindly)?(?: be so kind (?:as )?to)?",
  "you (?:should|must|need to|have to|can)|try to|go ahead and|help me(?: to)?",
  "i(?:'d| would) like you to|i (?:want|need) you to|i'd like to|i want to",
  "let's|let us|let me|your (?:task|job) is to|(?:hey|hi|hello)(?: there| parley)?",
  "parley|immediately|in parallel|at once|afterwards|after that|then|and|but|step \\d+|to begin with|the first thing to do is",
].join("|");

const CONNECTIVES =
  "and|then|also|but|after(?:wards| that| this| which)|finally|next|lastly|second(?:ly)?|third(?:ly)?|as well as|" +
  "once (?:that is |that's |you are |you're )?done|" +
  "when (?:that is |that's |you are |you're )?done";

const BOUNDARY = new RegExp(
  `(\\s*[.;!?]+(?=\\s)|\\s*,|\\s*\\n(?:\\s*(?:\\d+[.)]|[-*•])(?=\\s))?|(?=\\s))\\s*((?:(?:${CONNECTIVES})\\b[\\s,]+){0,4})` +
    `(?=(?:(?:${FILLERS})\\b[\\s,]*){0,4}(?:${OPENERS})(?![\\p{L}\\p{N}_.:/-]*[\\p{L}\\p{N}_/]))`,
  "giu",
);

const BLANKS = /\s+/g;
const BULLET = /^\s*(?:\d+[.)]|[-*•])\s+/;
const LATER = /\b(?:then|after|finally|next|lastly|second|third|done)/i;

/** What only asks about doing something: "how do I delete a.txt?", "what would happen if you ran it?". */
export const ONLY_ASKS =
  "(?:and )?(?:how (?:do|can|could|should|would|might) (?:i|we|you|one|people|someone)|how to|what (?:would|will|could|might) happen|" +
  "what happens (?:if|when)|what if|what would you do|(?:should|shall|may|must|can) (?:i|we)|" +
  "(?:do|would) (?:i|we) (?:need|have) to|why)\\b";
/** What forbids: "do not read a.txt", "never delete it". To remind is no ban. */
export const FORBIDS = "(?:do not|don['’]?t|never|not|avoid|refrain|no need to)\\b(?! forget)";
const ASKING = pattern`^${ONLY_ASKS}`;
const FORBIDDING = pattern`^${FORBIDS}`;

/** "and" and commas belong to a sub-agent's task and a list; a colon's content ends only at "then" or the next line; `;` may be shell. */
function separates(clause: string, punctuation: string, connective: string): boolean {
  const mark = punctuation.trim().charAt(0);
  if (/^[,;]?$/.test(mark) && !punctuation.includes("\n")) {
    if (ASKING.test(clause)) return false;
    if (FORBIDDING.test(clause) && mark === "" && !/\bbut\b/i.test(connective)) return false;
  }
  if (LATER.test(connective) || punctuation.includes("\n")) return true;
  if (COLON_CONTENT.test(clause)) return false;
  if (mark === "." || mark === "!" || mark === "?") return true;
  if (TAKES_LISTS.test(clause)) return false;
  if (mark === ";") return !RUNS.test(clause);
  return mark === "," || connective !== "";
}

const AGENTS = "(?:sub-?\\s?agents?|agents?|helpers?|child(?:ren)?|assistants?|workers?)\\b";
const COLON_CONTENT = pattern`^(?:write|create|save|put|make|append|add|say|reply|answer|respond|repeat)\b[^:]*:\s(?!\s*${QUOTED}$)`;
const TAKES_LISTS = pattern`
  ^(?:ask|have|let|tell|get|spawn|launch|start|use|create|run|delegate)\b.{0,40}\b${AGENTS}|^delegate\b|
  ^.{0,30}\b(?:to-?dos?|task list|todo list|plan the)\b|^(?:make|create|write|draw up)\b.{0,12}\bplan\b
`;
const RUNS = /^(?:run|execute|exec|\$)/i;

/** What follows "write to notes.md:" on the next lines is content to the end, whatever it says. */
function blocksMarked(marked: Marked): string {
  return marked.text.replace(BLOCK, (_whole, head: string, body: string) => `${head} ${marked.mark("f", body.replace(/\s+$/, ""))}`);
}

const BLOCK = pattern`
  ((?:^|[\s,])(?:write|create|save|put|make(?! sure)|append|add|todos?|to-do|say|reply|answer|respond|spawn|run|execute)\b
  [^\n:]*:)[\x20\t]*\n(?!\s*\uE000f)(.+)$
`;

const LEADING = new RegExp(`^(?:[\\s,;:.!?-]+|(?:${FILLERS})\\b[\\s,:!]+(?=\\S))`, "iu");
const QUESTION = /^\s*(?:please\s+)?(?:can|could|would|will) you\b/i;
const TRAILING =
  /[\s,]+(?:please|for me|thanks|thank you|right now|now|as well|too|if you can|(?:using|with|via) (?:the |your )?\w+ tool)[.!?]*$/i;

/** A clause without its politeness. "say please" keeps its only object. */
export function bare(clause: string): string {
  let text = clause.trim().replace(/(?<=\uE001)[\s.,;:!?]+$/u, "");
  if (QUESTION.test(text)) text = text.replace(/\s*\?+$/, "");
  let stripped = text.replace(LEADING, "");
  while (stripped !== text) {
    text = stripped;
    stripped = text.replace(LEADING, "");
  }
  const shorter = text.replace(TRAILING, "");
  return (/\s/.test(shorter) ? shorter : text).trim();
}
