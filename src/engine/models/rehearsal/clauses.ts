/** Cuts an order into clauses, one for each thing asked: "read a.txt, then write its content to b.txt" is two. Drops politeness. */
import { MARK, type Marked } from "./spans.js";
import { ORDERS } from "./order-table.js";

const VERBS = ORDERS.flatMap(({ joins, verbs }) => (joins ? [verbs] : []))
  .join("|")
  .replaceAll(" ", "\\s+");
const POLITE = [
  "please|kindly|now|ok(?:ay)?|just|also|first|next|finally|then|and|but|after that|afterwards|parley",
  "(?:could|can|would|will) you(?: please)?|i(?:'d| would) like you to|i (?:want|need) you to|you (?:should|must)",
  "let's|let us|(?:hey|hi|hello)(?! there[.!]*$)(?: there)?|use the \\w+ tool to",
].join("|");
const CONNECTIVES = "and|then|also|but|finally|next|after (?:that|this)|afterwards";

const BOUNDARY = new RegExp(
  `(\\s*[.;!?]+(?=\\s)|\\s*,|\\s*\\n(?:\\s*(?:\\d+[.)]|[-*•])(?=\\s))?|(?=\\s))\\s*((?:(?:${CONNECTIVES})\\b[\\s,]+){0,4})` +
    `(?=(?:(?:${POLITE})\\b[\\s,]*){0,4}(?:${VERBS})(?![\\p{L}\\p{N}_.:/-]*[\\p{L}\\p{N}_/]))`,
  "giu",
);
const BLANKS = /\s+/g;
const BULLET = /^\s*(?:\d+[.)]|[-*•])\s+/;

/** Characters at the beginning of a clause that decide where it ends; the limit keeps the time linear. */
const HEAD = 300;

export function clausesOf(marked: Marked): string[] {
  const text = blocksMarked(marked)
    .replaceAll(BLANKS, (blanks) => (blanks.includes("\n") ? "\n" : " "))
    .replace(BULLET, "");
  const clauses: string[] = [];
  let from = 0;
  for (const { 0: separator, 1: mark = "", 2: connective = "", index } of text.matchAll(BOUNDARY)) {
    if (!separates(withoutPoliteness(text.slice(from, Math.min(index, from + HEAD))), mark, connective)) continue;
    clauses.push(text.slice(from, index));
    from = index + separator.length;
  }
  clauses.push(text.slice(from));
  return clauses.map(withoutPoliteness).filter((clause) => clause !== "");
}

/** A ban or a question about doing something: none of its words is an order, up to the end of its sentence. */
const NO_ORDER =
  /^(?:do not|don['’]?t|never|not|no need|avoid|refrain|how|why|should|shall|may|must|can i|if|what (?:would|will|could|happens|if))\b/i;
const LATER = /\b(?:then|after|finally|next)/i;
const CONTENT_AFTER_COLON = new RegExp(`^(?:write|save|put|create|append|add|say|answer|reply)\\b[^:]*:\\s(?!\\s*${MARK}$)`, "i");
const BARE_COMMAND = /^(?:run|execute|\$)[^\uE000]*$/i;

/** Whether a clause ends here; `head` is the clause so far, or its beginning. */
function separates(head: string, mark: string, connective: string): boolean {
  const isLine = mark.includes("\n");
  const sign = mark.trim().charAt(0);
  const isSentence = isLine || /[.!?]/.test(sign);
  if (NO_ORDER.test(head)) return isSentence || /\bbut\b/i.test(connective);
  if (isLine || LATER.test(connective)) return true;
  if (CONTENT_AFTER_COLON.test(head)) return false;
  if (isSentence) return true;
  if (ORDERS.some(({ takesList, form }) => takesList && form.test(head))) return false;
  return sign === ";" ? !BARE_COMMAND.test(head) : sign === "," || connective !== "";
}

/** The lines after "write to notes.md:" are content to the end of the order, whatever they say. */
function blocksMarked(marked: Marked): string {
  return marked.text.replace(BLOCK, (_whole, head: string, body: string) => `${head} ${marked.block(body.trimEnd())}`);
}

const BLOCK =
  /((?:^|[\s,])(?:write|create|save|put|append|add|make|todo|say|spawn|ask|run|execute)\b[^\n:]{0,200}:)[ \t]*\n(?!\s*\uE000f)(.+)$/is;

const LEADING = new RegExp(`^(?:[\\s,;:.!?-]+|(?:${POLITE})\\b[\\s,:!]+(?=\\S))`, "iu");
const QUESTION = /^\s*(?:please\s+)?(?:can|could|would|will) you\b/i;
const TRAILING = /[\s,]+(?:please|for me|thanks|thank you|now|too|instead)[.!?]*$/i;

/** A clause without its politeness; "say please" keeps its only object. */
function withoutPoliteness(clause: string): string {
  let text = clause.trim().replace(/(?<=\uE001)[\s.,;:!?]+$/u, "");
  if (QUESTION.test(text)) text = text.replace(/\?+$/, "");
  for (let shorter = text.replace(LEADING, ""); shorter !== text; shorter = text.replace(LEADING, "")) text = shorter;
  const shorter = text.replace(TRAILING, "");
  return (/\s/.test(shorter) ? shorter : text).trim();
}
