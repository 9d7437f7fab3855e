/** The readable text of an HTML page, in one pass, linear in its length, whatever the markup. */

/** Links become "text (address)"; `base` completes relative ones. */
export function htmlText(html: string, base?: string): string {
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const page = new Writer();
  const links: string[] = [];
  let preformatted = 0;
  let headSeen = false;
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    const textEnd = open === -1 ? html.length : open;
    page.text(decodeEntities(html.slice(at, textEnd)), preformatted > 0);
    if (open === -1) break;
    at = afterMarkup(open);
  }
  return page.toString();

  /** Handles the markup at a "<"; returns the position where text goes on. */
  function afterMarkup(open: number): number {
    if (lower.startsWith("<!--", open)) return after("-->", open + 4);
    if (lower.startsWith("<!", open) || lower.startsWith("<?", open)) return after(">", open + 2);
    const tag = tagAt(lower, open);
    if (tag === null) {
      page.text("<", preformatted > 0);
      return open + 1;
    }
    const end = tagEnd(html, open + tag.length);
    if (tag.closes) closeTag(tag.name);
    else if (UNREAD.has(tag.name)) return after(`</${tag.name}`, end, (close) => tagEnd(html, close));
    else if (tag.name === "head" && !headSeen) return afterHead(end);
    else openTag(tag.name, html.slice(open, end));
    return end;
  }

  function after(mark: string, from: number, past = (found: number): number => found + mark.length): number {
    const found = lower.indexOf(mark, from);
    return found === -1 ? html.length : past(found);
  }

  /** A head may be unclosed, so a body ends it as well; with neither, no text is dropped. */
  function afterHead(from: number): number {
    headSeen = true;
    const ends = [lower.indexOf("</head", from), lower.indexOf("<body", from)].filter((found) => found !== -1);
    return ends.length === 0 ? from : Math.min(...ends);
  }

  function openTag(name: string, source: string): void {
    if (name === "a") links.push(address(source));
    if (name === "pre") preformatted++;
    if (name === "br") page.lineBreak();
    if (name === "td" || name === "th") page.text(" ", false);
    if (PARAGRAPHS.has(name)) page.newLine(2);
    else if (LINES.has(name)) page.newLine(1);
    if (name === "li") page.text("- ", false);
    if (/^h[1-6]$/.test(name)) page.text(`${"#".repeat(Number(name[1]))} `, false);
  }

  function closeTag(name: string): void {
    if (name === "a") {
      const link = links.pop();
      if (link !== undefined && link !== "") page.text(` (${link})`, false);
    }
    if (name === "pre" && preformatted > 0) preformatted--;
    if (PARAGRAPHS.has(name)) page.newLine(2);
    else if (LINES.has(name)) page.newLine(1);
  }

  function address(source: string): string {
    const match = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(source);
    const href = decodeEntities(match?.[1] ?? match?.[2] ?? match?.[3] ?? "").trim();
    if (href === "" || href.startsWith("#")) return "";
    const url = URL.canParse(href, base) ? new URL(href, base) : null;
    return url !== null && /^https?:$/.test(url.protocol) ? url.href : "";
  }
}

/** Elements without readable content. */
const UNREAD = new Set(["script", "style", "noscript", "template", "svg", "iframe", "object"]);

const PARAGRAPHS = new Set("p h1 h2 h3 h4 h5 h6 ul ol dl table pre blockquote section article".split(" "));
const LINES = new Set("div li tr dt dd header footer nav main aside form figure hr option title".split(" "));

function tagAt(lower: string, open: number): { name: string; closes: boolean; length: number } | null {
  const tag = /<(\/?)([a-z][a-z0-9:-]*)/y;
  tag.lastIndex = open;
  const match = tag.exec(lower);
  if (match === null) return null;
  return { name: match[2] ?? "", closes: match[1] === "/", length: match[0].length };
}

/** The position behind the tag's ">"; a ">" inside a quoted value does not count. */
function tagEnd(html: string, from: number): number {
  const piece = /[^>=]*(?:=\s*(?:"[^"]*"|'[^']*')?)?/y;
  let at = from;
  while (at < html.length && html[at] !== ">") {
    piece.lastIndex = at;
    at += piece.exec(html)?.[0].length ?? 1;
  }
  return Math.min(at + 1, html.length);
}

/** Names and characters in turn: the entities of pages without a declared charset. */
const ENTITIES = new Map(
  [
    "amp & lt < gt > quot \" apos ' copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ rdquo ” laquo « raquo »",
    "bull • middot · times × deg ° euro € pound £ sect § para ¶ larr ← rarr → uarr ↑ darr ↓ auml ä ouml ö uuml ü Auml Ä Ouml Ö",
    "Uuml Ü szlig ß eacute é egrave è agrave à ccedil ç",
  ]
    .join(" ")
    .split(/ (?=[a-z]+ )/i)
    .map((pair): [string, string] => [pair.slice(0, pair.indexOf(" ")), pair.slice(pair.indexOf(" ") + 1)])
    .concat([
      ["nbsp", " "],
      ["shy", ""],
    ]),
);

function decodeEntities(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return ENTITIES.get(name) ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? "\uFFFD" : String.fromCodePoint(code);
  });
}

/** Collects text: runs of blanks become one blank, and blank lines one blank line. */
class Writer {
  readonly #pieces: string[] = [];
  #breaks = 0;
  #blank = false;

  text(text: string, asIs: boolean): void {
    if (asIs) return text === "" ? undefined : this.#add(text);
    const words = text.replace(/\s+/g, " ");
    const inner = words.trim();
    if (words.startsWith(" ")) this.#blank = true;
    if (inner !== "") this.#add(inner);
    if (words.endsWith(" ")) this.#blank = true;
  }

  lineBreak(): void {
    this.#breaks = Math.min(2, this.#breaks + 1);
  }

  newLine(count: 1 | 2): void {
    this.#breaks = Math.max(this.#breaks, count);
  }

  #add(text: string): void {
    const last = this.#pieces.pop();
    if (last === undefined) this.#pieces.push(text);
    else if (this.#breaks > 0) this.#pieces.push(last.trimEnd(), "\n".repeat(this.#breaks), text.replace(/^\n/, ""));
    else this.#pieces.push(last, this.#blank ? " " : "", text);
    this.#breaks = 0;
    this.#blank = false;
  }

  toString(): string {
    return this.#pieces.join("").trim();
  }
}
