/** Code in colours, by its language. */
import highlight from "highlight.js/lib/common";
import type { Role, Theme } from "../theme.js";

/** Undefined where the language is not known. */
export type Highlighter = (code: string, language: string | undefined) => string[] | undefined;

const ROLES: Readonly<Record<string, Role>> = {
  keyword: "hunk",
  built_in: "accent",
  type: "accent",
  title: "accent",
  string: "added",
  regexp: "added",
  number: "code",
  literal: "code",
  comment: "aside",
  meta: "aside",
  doctag: "aside",
  addition: "added",
  deletion: "removed",
  section: "heading",
  attr: "accent",
  attribute: "accent",
  variable: "code",
  symbol: "code",
};

const MOST_CHARS = 100_000;
const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

export function highlighter(theme: Theme): Highlighter {
  return (code, language = "") => {
    if (highlight.getLanguage(language) === undefined || code.length > MOST_CHARS) return undefined;
    return painted(highlight.highlight(code, { language, ignoreIllegals: true }).value, theme);
  };
}

/** The library's spans as colours; a colour ends with its row and begins anew in the next one. */
function painted(html: string, theme: Theme): string[] {
  const open: (Role | undefined)[] = [];
  const rows = [""];
  for (const [piece] of html.matchAll(/<span class="hljs-[^"]*">|<\/span>|[^<]+/g)) {
    const name = /^<span class="hljs-([\w-]+)/.exec(piece)?.[1];
    if (name !== undefined) open.push(ROLES[name]);
    else if (piece === "</span>") open.pop();
    else {
      const role = open.findLast((each) => each !== undefined);
      const text = piece.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity);
      for (const [at, line] of text.split("\n").entries()) {
        if (at > 0) rows.push("");
        rows[rows.length - 1] += role === undefined || line === "" ? line : theme.paint(role, line);
      }
    }
  }
  return rows;
}
