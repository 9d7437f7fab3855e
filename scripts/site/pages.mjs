// The pages of the site: all that links lead to, from docs/index.md on. A file of the repository that is no Markdown is shown as it is.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { codeBlock, escaped, parse, toHtml } from "./markdown.mjs";

export const INDEX = "docs/index.md";

const EXTERNAL = /^(?:[a-z]+:|\/\/)/;

/** `pages` and `assets` are by file; `problems` are sentences about links. */
export function openPages(root) {
  const pages = new Map();
  const assets = new Map();
  const problems = [];
  const waiting = [INDEX];
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    if (pages.has(file)) continue;
    const page = openPage(root, file);
    pages.set(file, page);
    for (const { href, isImage } of page.links) {
      const target = targetOf(file, href);
      if (target === undefined) continue;
      if (!existsSync(join(root, target.file)) || target.file.startsWith("..")) problems.push(`${file}: there is no file ${href}`);
      else if (isImage) assets.set(target.file, urlOf(target.file));
      else waiting.push(target.file);
    }
  }
  for (const page of pages.values()) {
    for (const { href } of page.links) {
      const { file, anchor } = targetOf(page.file, href) ?? {};
      const target = pages.get(file);
      if (anchor !== undefined && target !== undefined && !target.anchors.has(anchor))
        problems.push(`${page.file}: ${file} has no heading #${anchor}`);
    }
  }
  const address = (from, href) => {
    const target = targetOf(from.file, href);
    if (target === undefined) return href;
    const url = assets.get(target.file) ?? pages.get(target.file)?.url ?? urlOf(target.file);
    return posix.relative(posix.dirname(from.url), url) + (target.anchor === undefined ? "" : `#${target.anchor}`);
  };
  for (const page of pages.values()) page.html ??= toHtml(page.tokens, (href) => address(page, href));
  return { pages, assets, problems };
}

function openPage(root, file) {
  const path = join(root, file);
  const url = `${urlOf(file)}.html`;
  if (existsSync(path) && file.endsWith(".md")) return { file, url, ...parse(readFileSync(path, "utf8"), url) };
  const isFolder = statSync(path).isDirectory();
  const text = isFolder ? readdirSync(path).join("\n") : readFileSync(path, "utf8");
  const html = `<h1>${escaped(file)}</h1>\n${codeBlock(text, isFolder ? "" : posix.extname(file).slice(1))}`;
  return { file, url, title: file, headings: [], anchors: new Set(), links: [], lists: [], entries: [[file, "", url]], html };
}

/** Of a page without its `.html`. */
function urlOf(file) {
  const [, dialect] = /^src\/dialects\/([^/]+)\/README\.md$/.exec(file) ?? [];
  if (dialect !== undefined) return `dialects/${dialect}`;
  const [, name] = /^docs\/([^/]+)$/.exec(file) ?? [];
  return (name ?? `files/${file}`).replace(/\.md$/, "");
}

/** Undefined for an address outside the repository. */
function targetOf(file, href) {
  if (EXTERNAL.test(href)) return undefined;
  const [path, anchor] = href.split("#");
  return { file: path === "" ? file : posix.normalize(posix.join(posix.dirname(file), decodeURI(path))).replace(/\/$/, ""), anchor };
}
