/** Answers in Markdown: drawn, not shown as written; wrapped at the width; drawn anew for another one. */
import { describe, expect, it } from "vitest";
import { until } from "../process/harness.js";
import { bash, CTRL_C, chat, hasTerminal, type Chat } from "./chat.js";
import { speaker } from "./speaker.js";

const CODE_COLOUR = 6;

const ANSWER = `# Ducks

They are *light*, **loud** and ~~shy~~ _brown_, see [their page](https://ducks.example/all) and \`quack()\`:

- one
  - deeper
- two

1. first
2. second

> They said it.

| name | size |
|------|-----:|
| mallard | 50 |
| teal | 35 |

\`\`\`js
const duck = "mallard"; // loud
\`\`\`

---

The end.
`;

describe.skipIf(!hasTerminal)("an answer in Markdown", () => {
  it("is drawn: no marks remain, tables have lines, lists have bullets, code has colours", async () => {
    const talk = chat({ responses: [{ say: ANSWER }] });
    await talk.enter("go");
    await talk.shows("Ducks", "They are light, loud and", "their page", "quack()", "The end.", "tokens in");
    await talk.showsRow(/^- one$/);
    await talk.showsRow(/^ {2,4}- deeper$/);
    await talk.showsRow(/^1\. first$/);
    await talk.showsRow(/^│ They said it\.$/);
    await talk.showsRow(/^│ name +│ size │$/);
    await talk.showsRow(/^├─+┼─+┤$/);
    await talk.showsRow(/^│ teal +│ 35 +│$/);
    await talk.showsRow(/^ *const duck = "mallard"; \/\/ loud$/);
    expect(talk.text).toMatch(/┘\n\n +const duck = .*\n\n─/);
    expect(talk.text.slice(talk.text.indexOf("Ducks"))).not.toMatch(/\*|~~|_brown|# |```|\]\(|`|^---$|\|--/m);
    await until(() => talk.screen.colourOf("const duck") === CODE_COLOUR);
    expect(talk.screen.colourOf("// loud")).not.toBe(talk.screen.colourOf("const duck"));
    await talk.leave();
  });

  it("is drawn while it comes, so that half of it is no raw text", async () => {
    const model = await speaker();
    const talk = chat({ args: model.args });
    await talk.enter("go");
    await model.say("# Ducks\n\nThey are **lo");
    await talk.shows("Ducks", "They are");
    await talk.hides("# Ducks");
    await model.say("ud** birds.\n\n| a | b |\n|---|---|\n| 1 |");
    await talk.shows("They are loud birds.");
    await talk.showsRow(/^│ a +│ b +│$/);
    await model.say(" 2 |\n\n```js\nconst a = ");
    await talk.showsRow(/^│ 1 +│ 2 +│$/);
    await talk.showsRow(/^ *const a =$/);
    await model.say("1;\n```\n\nDone.");
    await talk.shows("const a = 1;", "Done.");
    await model.end();
    await talk.hides("Esc to interrupt");
    await talk.leave();
    expect(talk.text).not.toMatch(/\*\*|```|\|---/);
  });

  it("wraps words at the width, and is drawn anew for another one", async () => {
    const words = Array.from({ length: 60 }, (_, at) => `word${at}`).join(" ");
    const talk = chat({ size: { columns: 60, rows: 20 }, responses: [{ say: `${words}\n\n| a | b |\n|---|---|\n| ${words} | x |` }] });
    await talk.enter("go");
    await talk.shows("word0", "word59", "tokens in");
    expect(widest(talk)).toBeLessThanOrEqual(60);
    expect(talk.text).not.toMatch(/\bwor\n|word\n/);
    for (const columns of [100, 30, 80]) {
      talk.resize({ columns, rows: 20 });
      await talk.showsRow(new RegExp(`^─{${columns}}$`));
      await talk.shows("> go", "word0", "word59", "tokens in");
      // Rows that scrolled away stay as they were.
      await until(() => talk.screen.rows.every((row) => !/^─+$/.test(row) || row.length === columns));
      await talk.screen.drawn();
      const inSight = talk.screen.rows.join("\n");
      expect(inSight).toContain("word59 ");
      expect(inSight.match(/word59\b/g)?.length).toBeLessThanOrEqual(2);
    }
    await talk.leave();
  });

  it("keeps wide characters in their columns", async () => {
    const talk = chat({
      size: { columns: 40, rows: 20 },
      responses: [
        { say: "| 名前 | x |\n|---|---|\n| 日本語 | 1 |\n| 👩‍👩‍👧‍👦 | 2 |\n\n日本語の文章はここで折り返されますか、はい、折り返されます。" },
      ],
    });
    await talk.press("日本");
    await talk.shows("日本");
    await talk.enter("語");
    await talk.shows("> 日本語", "名前", "tokens in");
    await talk.showsRow(/^│ 日本語 │ 1 │$/);
    await talk.showsRow(/^│ 名前 {3}│ x │$/);
    await talk.showsRow(/^日本語の文章はここで折り返されますか、は$/);
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("a screen that is too small", () => {
  it("costs nothing but room", async () => {
    const talk = chat({
      size: { columns: 12, rows: 4 },
      responses: [{ say: ANSWER, call: { tool: "Write", args: { file_path: "a.txt", content: "x".repeat(100) } } }, { say: "Done." }],
    });
    await talk.enter("go");
    await talk.shows("y once");
    talk.resize({ columns: 3, rows: 2 });
    await talk.showsRow(/^───$/);
    talk.resize({ columns: 80, rows: 24 });
    await talk.showsRow(/^─{80}$/);
    await talk.enter("y");
    await talk.shows("● Write a.txt", "Done.", "tokens in");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("10,000 lines", () => {
  it("of an answer and of a command's output come at once, and a key is still heard", async () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `line ${at}`);
    const talk = chat({
      args: ["--auto-approve"],
      responses: [
        { say: { pieces: lines.map((line) => `${line}\n\n`) }, call: bash("seq -f 'row %g' 10000") },
        { say: { pieces: ["```\n", ...lines.map((line) => `code ${line}\n`), "```\n"] } },
      ],
    });
    await talk.enter("go");
    await talk.press("half");
    await talk.shows("line 9999", "row 10000", "half");
    await talk.shows("code line 9999", "tokens in", "half");
    await talk.press(CTRL_C);
    await talk.leave();
  });
});

function widest(talk: Chat): number {
  return Math.max(...talk.screen.history.map((row) => row.length));
}
