// How long an `@` suggestion takes in a large tree, over the native dialect: `node bench/suggest.mjs [FILES]`. Prints, asserts nothing.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const FILES = Number(process.argv[2] ?? 100_000);
const QUERIES = ["@", "@s", "@src", "@mod", "@module-7", "@pack/mod", "@pkg3mod12file", "@zzzz", "@packages/pkg-10/src/"];
const ROUNDS = 20;

const root = mkdtempSync(join(tmpdir(), "parley-suggest-"));
const cwd = join(root, "tree");
try {
  plant();
  await ask();
} finally {
  rmSync(root, { recursive: true, force: true });
}

function plant() {
  for (let at = 0; at < FILES; at += 1) {
    const folder = join(cwd, "packages", `pkg-${Math.floor(at / 1000)}`, "src", `module-${Math.floor(at / 50) % 20}`);
    if (at % 50 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${at}.ts`), "");
  }
}

async function ask() {
  const env = { PATH: process.env.PATH, HOME: root, PARLEY_HOME: join(root, "home") };
  const child = spawn(process.execPath, ["dist/parley.js", "serve", "--dialect", "native", "--provider", "rehearsal", "--workspace", cwd], {
    env,
  });
  const replies = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = JSON.parse(line);
    if (event.type === "session.ready" || (event.type === "reply" && event.status === "ok")) replies.get(event.parent)?.();
  });
  const send = (op) =>
    new Promise((resolve) => {
      replies.set(op.id, resolve);
      child.stdin.write(`${JSON.stringify(op)}\n`);
    });
  await send({ type: "session.open", id: "open", session: "s", open: "new" });
  await timed("the first, which lists the tree", 1, "@");
  for (const text of QUERIES) await timed(text, ROUNDS, text);
  child.stdin.end();
  await new Promise((resolve) => child.once("close", resolve));

  async function timed(label, rounds, text) {
    const times = [];
    for (let round = 0; round < rounds; round += 1) {
      const start = performance.now();
      await send({ type: "command.suggest", id: `${label} ${round}`, session: "s", trigger: "at", text });
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    const [median, worst] = [times[Math.floor(times.length / 2)], times.at(-1)].map((time) => time.toFixed(1).padStart(8));
    console.log(`${label.padEnd(34)} median ${median} ms  worst ${worst} ms`);
  }
}
