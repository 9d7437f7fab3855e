/** A pseudo-terminal with the built command in it, and somebody at its keyboard. */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { expect, onTestFailed, onTestFinished } from "vitest";
import { environment, PARLEY, scratch, until } from "./harness.js";

export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";
export const CTRL_Z = "\u001a";

export const hasTerminal = spawnSync("script", ["--version"]).status === 0;
if (!hasTerminal) console.warn("skipped: terminal tests need 'script' of util-linux, which is not here");

const ESCAPE = "\u001b";
const BELL = "\u0007";
const MOVES = new RegExp(`${ESCAPE}\\[[\\d;?]*[A-Za-z]|${ESCAPE}\\][^${BELL}]*${BELL}`, "g");
const TORN = new RegExp(`${ESCAPE}[^]{0,8}$`);

export type Terminal = ReturnType<typeof inTerminal>;

/** The command under a pseudo-terminal of its own, with somebody at the keyboard. */
export function terminal(args: string[], env: Record<string, string> = {}, cwd = scratch()): Terminal {
  return inTerminal(shellLine(args), env, cwd);
}

/** A shell with job control, and the command in it, by itself or `behind` a program that waits for it as npx does. */
export async function shellWith(args: string[], behind: "program" | "nothing" = "program"): Promise<Terminal> {
  const shell = inTerminal("bash --norc --noprofile -i", { PS1: "shell: " }, scratch());
  const runner = join(scratch({ run: `${behind === "program" ? "" : "exec "}${shellLine(args)}\nexit $?\n` }), "run");
  await shell.type("shell: ", `sh ${runner}\r`);
  return shell;
}

/** The built command as a shell takes it. */
export function shellLine(args: string[]): string {
  return [process.execPath, PARLEY, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
}

export function inTerminal(command: string, env: Record<string, string>, cwd: string) {
  const child = spawn("script", ["-qec", command, "/dev/null"], { cwd, env: environment({ TERM: "xterm", ...env }) });
  const pty = {
    /** Without colours and cursor movements. */
    seen: "",
    /** With them. */
    raw: "",
    exited: new Promise<number | null>((resolve) => child.once("close", resolve)),
    /** Types once this is on the screen, below where it was found the last time. */
    async type(after: string, keys: string): Promise<void> {
      await until(() => pty.seen.includes(after, at) || child.exitCode !== null);
      expect(pty.seen.slice(at)).toContain(after);
      at = pty.seen.indexOf(after, at) + after.length;
      child.stdin.write(keys);
    },
    /** Types at once. */
    write: (keys: string): void => void child.stdin.write(keys),
    /** Hears everything that comes from now on. */
    listen: (take: (text: string) => void): void => void child.stdout.on("data", (bytes: Buffer) => take(heard.write(bytes))),
  };
  const heard = new StringDecoder("utf8");
  let at = 0;
  const decoder = new StringDecoder("utf8");
  child.stdout.on("data", (text: Buffer) => {
    pty.raw += decoder.write(text);
    // What moves the cursor, and a sequence that has not come whole yet.
    pty.seen = pty.raw.replace(MOVES, "").replace(TORN, "");
  });
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  onTestFailed(() => {
    if (at > 0) console.error(`On the screen:\n${pty.seen}\nwaited for below:\n${pty.seen.slice(at)}`);
  });
  return pty;
}
