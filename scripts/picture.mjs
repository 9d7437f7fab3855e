// Draws docs/chat.svg: a conversation with the built command at a pseudo-terminal, as it stands on the screen when a question waits.
// Seconds that the screen tells and the wheel beside them are made the same in each run.
import xterm from "@xterm/headless";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stringify } from "yaml";
import { svgOf } from "./picture/svg.mjs";

const FILE = "docs/chat.svg";
const SIZE = { columns: 92, rows: 50 };
/** The chat reads keys as keys from here on. */
const READS_KEYS = "\u001b[?1004h";
/** The chat hides the cursor behind each frame. */
const HIDES_CURSOR = "\u001b[?25l";

const FILES = {
  "total.js": `/** The price of a basket, in cents. */
export function total(items, discount = 0) {
  const sum = items.reduce((all, { price, count }) => all + price * count, 0);
  return Math.round(sum);
}
`,
};

const RESPONSES = [
  { call: { tool: "Read", args: { file_path: "total.js" } } },
  {
    say: `Found it: \`total\` takes a **discount** and never uses it.

| basket | should be | is |
|---|---|---|
| 2 × 5.00 | 10.00 | 10.00 |
| 2 × 5.00, 10 % off | 9.00 | *10.00* |

The sum has to shrink before it is rounded:

\`\`\`js
return Math.round(sum * (1 - discount)); // 0.1 is 10 % off
\`\`\`
`,
    call: {
      tool: "Edit",
      args: { file_path: "total.js", old_string: "Math.round(sum);", new_string: "Math.round(sum * (1 - discount));" },
    },
  },
];

const scratch = mkdtempSync(join(tmpdir(), "parley-picture-"));
try {
  const rows = await photographed();
  writeFileSync(FILE, svgOf(rows, SIZE.columns, "parley · shop"));
  console.log(`${FILE} is drawn.`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** The rows of the screen as cells. */
async function photographed() {
  const shop = join(scratch, "shop");
  mkdirSync(shop);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(shop, name), text);
  writeFileSync(join(shop, "mend.yaml"), stringify({ responses: RESPONSES }));
  execFileSync("git", ["init", "-q", "-b", "discounts", shop]);

  const chat = openChat(shop, `'${process.execPath}' '${resolve("dist/parley.js")}' --provider rehearsal --model mend.yaml`);
  try {
    await chat.printed(READS_KEYS);
    chat.type("why is the discount ignored? mend it\r");
    await chat.shows(/Esc to interrupt[^]*│ Edit total\.js[^]*y {2}once/);
    // The library that colours code is loaded with the first block of it.
    await chat.colours("return Math.round(sum * (");
    // The folder above the prompt has another name in each run.
    const rows = chat.rows();
    return rows.slice(rows.findIndex((cells) => textOf(cells).startsWith("> ")));
  } finally {
    chat.end();
  }
}

/** The command at a pseudo-terminal of its own, and its screen. */
function openChat(cwd, command) {
  const terminal = new xterm.Terminal({ cols: SIZE.columns, rows: SIZE.rows, allowProposedApi: true });
  const line = `stty rows ${SIZE.rows} columns ${SIZE.columns}; exec ${command}`;
  const env = { PATH: process.env.PATH, HOME: scratch, PARLEY_HOME: join(scratch, "home"), TERM: "xterm-256color", LANG: "C.UTF-8" };
  const child = spawn("script", ["-qec", line, "/dev/null"], { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Set();
  let drawn = "";
  const until = (isSo) =>
    new Promise((done, failed) => {
      const look = () => isSo() && (waiting.delete(look), done());
      waiting.add(look);
      child.once("close", () => failed(new Error(`The chat ended early:\n${text()}`)));
      look();
    });
  const text = () => lines().join("\n");
  const lines = () => Array.from({ length: SIZE.rows }, (_, y) => lineAt(y).translateToString(true));
  const lineAt = (y) => terminal.buffer.active.getLine(terminal.buffer.active.baseY + y);

  terminal.onData((reply) => child.stdin.write(reply));
  child.stdout.setEncoding("utf8").on("data", (piece) => {
    terminal.write(piece, () => {
      drawn += piece;
      waiting.forEach((look) => look());
    });
  });
  return {
    type: (keys) => child.stdin.write(keys),
    printed: (bytes) => until(() => drawn.includes(bytes)),
    shows: (pattern) => until(() => drawn.endsWith(HIDES_CURSOR) && pattern.test(text())),
    colours: (words) =>
      until(
        () =>
          drawn.endsWith(HIDES_CURSOR) &&
          lines().some((line, y) => line.trim().startsWith(words) && hasColour(lineAt(y), line.indexOf(words))),
      ),
    rows: () => Array.from({ length: SIZE.rows }, (_, y) => timeless(cellsOf(lineAt(y)))),
    end: () => child.kill("SIGKILL"),
  };
}

function hasColour(line, x) {
  return !line.getCell(x).isFgDefault();
}

function cellsOf(line) {
  return Array.from({ length: SIZE.columns }, (_, x) => line.getCell(x))
    .filter((cell) => cell.getWidth() > 0)
    .map((cell) => ({
      text: cell.getChars() || " ",
      width: cell.getWidth(),
      colour: cell.isFgDefault() ? undefined : cell.getFgColor(),
      isBold: cell.isBold() !== 0,
      isItalic: cell.isItalic() !== 0,
      isUnderlined: cell.isUnderline() !== 0,
      isInverse: cell.isInverse() !== 0,
    }));
}

function timeless(cells) {
  const seconds = /(?<=\()\d(?= s )/.exec(textOf(cells))?.index;
  return cells.map((cell, at) =>
    /[\u2801-\u28ff]/.test(cell.text) ? { ...cell, text: "⠹" } : at === seconds ? { ...cell, text: "2" } : cell,
  );
}

function textOf(cells) {
  return cells.map((cell) => cell.text).join("");
}
