// The frame around a page: search, navigation, and the headings of the page.
import { posix } from "node:path";
import { escaped } from "./markdown.mjs";

export function fullPage(page, navigation, pages) {
  const root = posix.relative(posix.dirname(page.url), ".") || ".";
  const headings = page.headings.filter(({ depth }) => depth === 2);
  const here = headings.map(({ id, text }) => `<li><a href="#${id}">${escaped(text.replaceAll("`", ""))}</a></li>`).join("\n");
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(page.title)} · Parley</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}/page.css">
<script src="${root}/search.js" defer></script>
<script src="${root}/page.js" defer></script>
</head>
<body>
<header>
<a class="name" href="${root}/index.html">Parley</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search (press /)" aria-label="Search the pages" autocomplete="off">
<ul id="results" hidden></ul>
</div>
<button id="colours" type="button">Light or dark</button>
<button id="menu" type="button" aria-expanded="false" aria-controls="pages">Pages</button>
</header>
<div class="columns">
<nav id="pages" aria-label="Pages">
${navigation.map((group) => listOf(group, page, pages)).join("\n")}
</nav>
<main>
${page.html}</main>
${here === "" ? "" : `<aside aria-label="On this page">\n<p>On this page</p>\n<ul>\n${here}\n</ul>\n</aside>\n`}</div>
</body>
</html>
`;
}

function listOf({ heading, links }, page, pages) {
  const items = links.flatMap(({ href, text }) => {
    const target = [...pages.values()].find(({ file }) => file === posix.normalize(posix.join("docs", href)));
    if (target === undefined) return [];
    const current = target === page ? ' aria-current="page"' : "";
    return [`<li><a href="${posix.relative(posix.dirname(page.url), target.url)}"${current}>${escaped(text)}</a></li>`];
  });
  return `<p>${escaped(heading)}</p>\n<ul>\n${items.join("\n")}\n</ul>`;
}
