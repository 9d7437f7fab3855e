import fc from "fast-check";
import { expect, test } from "vitest";
import { htmlText } from "./html-text.js";

test("a page as people read it", () => {
  const html = `<!DOCTYPE html><html><head><title>T</title><style>p{color:red}</style></head>
    <body class="a > b"><!-- not <b>this</b> --><h1>Big &amp; <em>small</em></h1>
    <p>One   two
    three<br>four</p><SCRIPT>if (a < b) alert("</p>")</SCRIPT>
    <ul><li>first</li><li><a href="/x?a=1&amp;b=2">second</a></li></ul>
    <p>A <a href='#top'>jump</a>, a <a href=mailto:x@y>mail</a>, <a>none</a>.</p>
    <pre>
  keep
    this  &lt;here&gt;
</pre><table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table></body></html>`;
  expect(htmlText(html, "https://example.org/dir/page")).toBe(
    [
      "# Big & small",
      "One two three\nfour",
      "- first\n- second (https://example.org/x?a=1&b=2)",
      "A jump, a mail, none.",
      "  keep\n    this  <here>",
      "a b\nc",
    ].join("\n\n"),
  );
});

test.each([
  ["", ""],
  ["no markup", "no markup"],
  ["1 < 2 and 3 > 2", "1 < 2 and 3 > 2"],
  ["a<b", "a"],
  ["<p don't>text</p><p>it's</p>", "text\n\nit's"],
  ['<img alt="a > b">after', "after"],
  ['<a href="unclosed>text', "text"],
  ["<!-- never closed", ""],
  ["<script>never closed", ""],
  ["<head><title>x</title><body>text", "text"],
  ["<head>no end at all", "no end at all"],
  ["&lt;&gt;&amp;&quot;&#39;&#x41;&#66;&nbsp;&hellip;", "<>&\"'AB …"],
  ["&unknown; &#0; &#xD800; &#1114112; & &;", "&unknown; \uFFFD \uFFFD \uFFFD & &;"],
  ["&amp;lt;", "&lt;"],
  ["İ<script>x</script>y", "İy"],
])("%j reads %j", (html, text) => {
  expect(htmlText(html)).toBe(text);
});

test("law: any soup of markup is read without scripts, and never fails", () => {
  const soup = fc.array(
    fc.constantFrom(
      "<",
      ">",
      "<p",
      "<p>",
      "</p>",
      "<a href=",
      '"',
      "'",
      "=",
      "<!--",
      "-->",
      "<script>",
      "</script>",
      "&",
      "&amp;",
      "x",
      " ",
      "<pre>",
      "</pre>",
      "<head>",
      "<body>",
    ),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(soup, (pieces) => {
      const text = htmlText(pieces.join(""));
      expect(text).toBe(text.trim());
      expect(htmlText(`<p>before</p><script>${pieces.filter((piece) => piece !== "</script>").join("")}</script>`)).toBe("before");
    }),
    { numRuns: 500 },
  );
});

test.each(["<script", "<head>", '<a href="', "<!--", "<p ='", "</", "<a><a>", "&#", "<pre>\n\n", "<p>   "])(
  "megabytes of %j are read in linear time",
  (piece) => {
    // Quadratic work on this much text would outlast the test's time limit by far.
    expect(htmlText(piece.repeat(Math.ceil(4_000_000 / piece.length))).length).toBeLessThanOrEqual(8_000_000);
  },
);
