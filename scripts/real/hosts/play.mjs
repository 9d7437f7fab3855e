/**
 * Plays a host's scenes one after the other, and prints for each a line of JSON: "works", or why not. The scripts of this folder are copied
 * beside the installed package of their host, so that they find it by its name, and run under the Node that it wants.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const SCENE_MS = 90_000;

/** `{url, key, workspace, package, shims, acp, secret}`; `shims` is a folder of Parley's launchers, `acp` the command of its ACP agent. */
export const given = JSON.parse(process.env.PARLEY_REAL);

export async function play(scenes) {
  for (const [scene, run] of Object.entries(scenes)) {
    const result = await timed(run()).then(
      () => "works",
      (error) => (error instanceof Error ? error.message : JSON.stringify(error)) || "it failed without a word",
    );
    console.log(JSON.stringify({ scene, result }));
  }
  process.exit(0);
}

async function timed(work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it was not over within ${SCENE_MS / 1000} s`)), SCENE_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export function expect(isSo, otherwise) {
  if (!isSo) throw new Error(otherwise);
}

export function isThere(file) {
  return existsSync(join(given.workspace, file));
}

/** Kills every process below this one. */
export function killAgent() {
  const listed = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const parents = new Map(
    listed
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number)),
  );
  const isBelow = (pid) => parents.has(pid) && (parents.get(pid) === process.pid || isBelow(parents.get(pid)));
  for (const pid of parents.keys()) {
    if (!isBelow(pid)) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself, as the program that listed it.
    }
  }
}

/** Prompts as SDKs take them that have a conversation: each is said when it is its turn. */
export function conversation(...prompts) {
  let wake = () => {};
  let isOver = false;
  return {
    say(prompt) {
      prompts.push(prompt);
      wake();
    },
    end() {
      isOver = true;
      wake();
    },
    async *messages() {
      for (;;) {
        const content = prompts.shift();
        if (content !== undefined) yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id: "" };
        else if (isOver) return;
        else await new Promise((resolve) => (wake = resolve));
      }
    },
  };
}
