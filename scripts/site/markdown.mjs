// One Markdown text: its headings, links and lists, what the search finds in it, and its HTML.
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import ini from "highlight.js/lib/languages/ini";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import yaml from "highlight.js/lib/languages/yaml";
import { Marked } from "marked";

for (const [name, language] of Object.entries({ bash, ini, javascript, json, python, typescript, yaml }))
  hljs.registerLanguage(name, language);

const ALIASES = { console: "bash", toml: "ini" };

/** `lists`: the links of each list or table, below its heading. `entries`: `[text, page, url]`, which the search finds. */
export function parse(text, url) {
  const marked = new Marked();
  const tokens = marked.lexer(text);
  const links = [];
  void marked.walkTokens(tokens, (token) => {
    if (token.type === "link" || token.type === "image") links.push({ href: token.href, isImage: token.type === "image" });
    if (token.type === "html")
      for (const [, kind, href] of token.text.matchAll(/\b(src|href|srcset)="([^"]*)"/g)) links.push({ href, isImage: kind !== "href" });
  });
  const headings = withAnchors(tokens.filter(({ type }) => type === "heading"));
  const title = plain(headings[0]?.text ?? url);
  return { title, tokens, links, headings, anchors: new Set(headings.map(({ id }) => id)), ...contents(marked, tokens, title, url) };
}

export function toHtml(tokens, address) {
  const renderer = {
    heading({ tokens: words, depth, id }) {
      const html = this.parser.parseInline(words);
      return `<h${depth} id="${id}">${html} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
    },
    code: ({ text, lang = "" }) => codeBlock(text, lang),
    link({ href, tokens: words }) {
      return `<a href="${escaped(address(href))}">${this.parser.parseInline(words)}</a>`;
    },
    image: ({ href, text }) => `<img src="${escaped(address(href))}" alt="${escaped(text)}">`,
    html: ({ text }) => text.replace(/\b(src|href|srcset)="([^"]*)"/g, (_, name, href) => `${name}="${escaped(address(href))}"`),
  };
  const html = new Marked({ renderer }).parser(tokens);
  return html.replaceAll("<table>", '<div class="table" tabindex="0"><table>').replaceAll("</table>", "</table></div>");
}

export function codeBlock(text, lang) {
  const [name = ""] = lang.split(" ");
  const language = ALIASES[name] ?? name;
  const html = hljs.getLanguage(language) === undefined ? escaped(text) : hljs.highlight(text, { language }).value;
  return `<pre tabindex="0"><code>${html}</code></pre>\n`;
}

export function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** The names of headings in addresses are those of GitHub. */
function withAnchors(headings) {
  const used = new Map();
  for (const heading of headings) {
    const name = heading.text
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-");
    const before = used.get(name) ?? 0;
    used.set(name, before + 1);
    heading.id = before === 0 ? name : `${name}-${before}`;
  }
  return headings;
}

function contents(marked, tokens, title, url) {
  const lists = [];
  const entries = [[title, "", url]];
  let heading;
  for (const token of tokens) {
    if (token.type === "heading") {
      heading = token;
      if (token.depth > 1) entries.push([plain(token.text), title, `${url}#${token.id}`]);
    }
    const place = heading === undefined || heading.depth === 1 ? url : `${url}#${heading.id}`;
    if (token.type === "table") {
      const terms = token.rows.flatMap(([{ tokens: words }]) => words.filter(({ type }) => type === "codespan").map(({ text }) => text));
      entries.push(...terms.map((term) => [term, title, place]));
    }
    if (token.type !== "table" && token.type !== "list") continue;
    const links = [];
    void marked.walkTokens([token], (each) => void (each.type === "link" && links.push({ href: each.href, text: plain(each.text) })));
    if (links.length > 0) lists.push({ heading: plain(heading?.text ?? ""), links });
  }
  return { lists, entries };
}

function plain(text) {
  return text.replaceAll(/[`*]/g, "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}
