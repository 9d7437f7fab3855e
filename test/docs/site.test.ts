/** `npm run docs`: the site, and what stops its build. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { ROOT } from "./shell-blocks.js";

function build(files: Record<string, string>): Promise<{ code: unknown; stderr: string; out: string }> {
  const root = scratch();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const out = join(root, "site");
  const args = [join(ROOT, "scripts/site.mjs"), "--root", root, "--out", out];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, _, stderr) => resolve({ code: error?.code ?? 0, stderr, out }));
  });
}

const INDEX = "# Home\n\n## Pages\n\n- [One](one.md)\n";

it("a page has its words, its code, the navigation and links to files of the repository", async () => {
  const one = "# One & more\n\n## A `b`\n\n[up](#a-b) [home](index.md) [code](../a/b.mjs)\n\n```js\nconst a = 1;\n```\n";
  const { code, out } = await build({ "docs/index.md": INDEX, "docs/one.md": one, "a/b.mjs": "if (a < b) c();\n" });
  expect(code).toBe(0);
  const page = readFileSync(join(out, "one.html"), "utf8");
  expect(page).toContain('<h2 id="a-b">');
  expect(page).toContain('<a href="#a-b">up</a>'.replace("#", "one.html#"));
  expect(page).toContain('<a href="one.html" aria-current="page">One</a>');
  expect(page).toContain('<span class="hljs-keyword">const</span>');
  expect(page).toContain('<a href="files/a/b.mjs.html">code</a>');
  expect(readFileSync(join(out, "files/a/b.mjs.html"), "utf8")).toContain("(a &lt; b)");
  expect(readFileSync(join(out, "search.js"), "utf8")).toContain('["A b","One & more","one.html#a-b"]');
});

it("a page asks no other machine for anything", async () => {
  const { out } = await build({ "docs/index.md": "# Home\n\n[there](https://example.com)\n" });
  const page = readFileSync(join(out, "index.html"), "utf8");
  expect([...page.matchAll(/(?:src|<link[^>]*href)="(\w+:)/g)].map(([, scheme]) => scheme)).toEqual(["data:"]);
  expect(readFileSync(join(out, "page.css"), "utf8")).not.toContain("url(");
});

it.each([
  ["a link to a page that is not there", { "docs/one.md": "[two](two.md)" }, "docs/one.md: there is no file two.md"],
  [
    "a link to a heading that is not there",
    { "docs/one.md": "[x](index.md#nowhere)" },
    "docs/one.md: docs/index.md has no heading #nowhere",
  ],
  ["a link out of the repository", { "docs/one.md": "[x](../../etc)" }, "docs/one.md: there is no file ../../etc"],
  ["a picture that is not there", { "docs/one.md": "![x](x.svg)" }, "docs/one.md: there is no file x.svg"],
  ["a page that nothing links to", { "docs/one.md": "One", "docs/two.md": "Two" }, "docs/two.md: no links lead here from docs/index.md"],
])("%s stops the build and is named", async (_, files, problem) => {
  const { code, stderr, out } = await build({ "docs/index.md": INDEX, ...files });
  expect(code).toBe(1);
  expect(stderr).toContain(problem);
  expect(existsSync(out)).toBe(false);
});
