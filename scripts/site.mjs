// Builds the site from docs/ into the folder `site`: npm run docs [-- --root DIR] [-- --out DIR]. docs/index.md is the first page, and its
// lists are the navigation. A dead link, or a page to which no link leads, is an error.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { INDEX, openPages } from "./site/pages.mjs";
import { fullPage } from "./site/template.mjs";

const { values } = parseArgs({ options: { root: { type: "string", default: "." }, out: { type: "string", default: "site" } } });
const { root, out } = values;

/** Files beside those of docs/ to which a link must lead. */
const LINKED = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", ...dialectPages()];

const { pages, assets, problems } = openPages(root);
const expected = [...readdirSync(join(root, "docs")).map((name) => `docs/${name}`), ...LINKED];
for (const file of expected) {
  const isPage = file.endsWith(".md") && existsSync(join(root, file));
  if (isPage && !pages.has(file)) problems.push(`${file}: no links lead here from ${INDEX}; add it to a list there`);
}

if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exitCode = 1;
} else {
  rmSync(out, { recursive: true, force: true });
  const navigation = pages.get(INDEX).lists;
  for (const page of pages.values()) write(page.url, fullPage(page, navigation, pages));
  for (const [file, url] of assets) write(url, undefined, join(root, file));
  write("search.js", `const ENTRIES = ${JSON.stringify([...pages.values()].flatMap(({ entries }) => entries))};\n`);
  for (const name of ["page.css", "page.js"]) write(name, undefined, join(import.meta.dirname, "site", name));
  console.log(`${pages.size} pages in ${out}/index.html and beside it`);
}

function dialectPages() {
  const folder = join(root, "src/dialects");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.map((name) => `src/dialects/${name}/README.md`);
}

function write(url, text, from) {
  const target = join(out, url);
  mkdirSync(dirname(target), { recursive: true });
  if (from === undefined) writeFileSync(target, text);
  else cpSync(from, target);
}
