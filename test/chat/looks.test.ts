/** What a person sees: the chat on the screen of a terminal that moves its cursor, wraps its lines and has an end at the bottom. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { environment, PARLEY, scratch, script, until } from "../process/harness.js";

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
if (!hasTmux) console.warn("skipped: the looks of the chat need tmux, which is not here");

/** The chat in a window of that size; `screen` is what is on it, without its empty end. */
function screenOf({ cwd, responses, columns, rows }: { cwd: string; responses: unknown[]; columns: number; rows: number }) {
  const socket = join(scratch(), "tmux");
  const tmux = (...args: string[]) =>
    execFileSync("tmux", ["-S", socket, "-u", "-f", "/dev/null", ...args], { env: environment(), encoding: "utf8" });
  const command = [process.execPath, PARLEY, "--provider", "rehearsal", "--auto-approve", "--model", script(responses)];
  const env = Object.entries(environment()).map(([name, value]) => `${name}=${value}`);
  tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "-c", cwd, "env", "-i", ...env, "TERM=screen-256color", ...command);
  onTestFinished(() => void spawnSync("tmux", ["-S", socket, "kill-server"]));
  const screen = (): string[] => tmux("capture-pane", "-p").trimEnd().split("\n");
  return {
    keys: (...keys: string[]) => void tmux("send-keys", ...keys),
    screen,
    /** Waits until the screen is so. */
    shows: (isSo: (lines: readonly string[]) => boolean) => until(() => isSo(screen())),
  };
}

const untilThere = (file: string, then: string) => ({
  tool: "Bash",
  args: { command: `until test -e ${file}; do sleep 0.02; done; ${then}` },
});

describe.skipIf(!hasTmux)("a half-written line", () => {
  it("stays at the bottom, whole, while others come above it, also when it wraps and the screen is full", async () => {
    const cwd = scratch();
    const { keys, screen, shows } = screenOf({
      cwd,
      columns: 60,
      rows: 12,
      responses: [
        { say: "Waiting", call: untilThere("go", "for i in $(seq 10); do echo line $i; done") },
        { say: "Over." },
        { say: "Heard." },
      ],
    });
    await shows((lines) => lines.at(-1) === "yolo>");
    keys("go", "Enter");
    await shows((lines) => lines.some((line) => line.startsWith("● Execute")));
    const half = "日本語 and a line that is longer than this window is wide";
    keys("-l", half);
    await shows((lines) => lines.join("").endsWith(half));
    writeFileSync(join(cwd, "go"), "");
    await shows((lines) => lines.some((line) => line.startsWith("(completed;")));
    await shows((lines) => lines.join("").endsWith(half));
    const lines = screen();
    expect(lines.slice(0, -2)).toEqual([
      ...[3, 4, 5, 6, 7, 8, 9, 10].map((at) => `  │ line ${at}`),
      "Over.",
      expect.stringMatching(/^\(completed; .*\)$/),
    ]);
    expect(lines.slice(-2).join("")).toBe(`yolo> ${half}`);
    keys(" indeed", "Enter");
    await shows((lines) => lines.includes("Heard.") && lines.at(-1) === "yolo>");
  });
});
