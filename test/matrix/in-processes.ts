/** The matrix from the outside: the built command as relay and as driven agent, over real pipes. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { mintId } from "../../src/core/ids.js";
import { PARLEY, processesWith, until } from "../process/harness.js";
import { onLines } from "../support/program.js";
import { agents, driving, oneByOne, withoutReasons } from "./agents.js";
import { Host, type Ended } from "./host.js";
import { hosts } from "./hosts.js";
import type { Room } from "./scenarios.js";

export interface OpenRoom extends Room {
  /** Fails when something still runs or was said against the grammar. */
  leave(): Promise<void>;
  /** Every line that came to a host here. */
  heard(): string[];
  /** After a failure: ends whatever runs, and asks nothing. */
  drop(): void;
}

export function files(): string {
  const dir = mkdtempSync(join(tmpdir(), "parley-matrix-"));
  writeFileSync(join(dir, "a.txt"), "alpha\n");
  writeFileSync(join(dir, "b.txt"), "beta\n");
  return dir;
}

export function processRoom(as: string, drive: string): OpenRoom {
  const [dir, home] = [files(), mkdtempSync(join(tmpdir(), "parley-home-"))];
  const mark = `matrix-${randomBytes(9).toString("hex")}`;
  const started: Host[] = [];
  return {
    dir,
    reasons: !withoutReasons.has(as) && !withoutReasons.has(drive),
    together: !oneByOne.has(as) && !oneByOne.has(drive),
    async start(opening = {}) {
      const script = hosts[as]?.(mintId());
      const agent = agents[drive];
      if (script === undefined || agent === undefined)
        throw new Error(`No script of a host of '${as}', or no command of an agent of '${drive}'`);
      const flags = ["--check", ...driving(drive), ...script.flags(opening)];
      const args = ["relay", "--as", as, "--drive", drive, ...flags, "--", process.execPath, PARLEY, ...agent];
      const env = { PATH: process.env["PATH"] ?? "", HOME: home, PARLEY_HOME: home, MATRIX: mark };
      const child = spawn(process.execPath, [PARLEY, ...args], { cwd: dir, env });
      let stderr = "";
      child.stdin.on("error", () => {});
      child.stderr.setEncoding("utf8").on("data", (words: string) => {
        stderr += words;
      });
      onLines(child.stdout, (lines) => lines.forEach((line) => host.hear(line)));
      const ended = new Promise<Ended>((resolve) => {
        child.once("close", (code) => {
          const violations = stderr.split("\n").filter((line) => line.includes("grammar"));
          resolve({ code: code ?? -1, violations, stderr });
        });
      });
      const host = new Host(script, {
        write: (text) => child.stdin.write(text),
        endInput: () => child.stdin.end(),
        terminate: () => child.kill("SIGTERM"),
        killAgent: () => process.kill(agentOf(child.pid ?? -1, mark), "SIGKILL"),
        ended,
      });
      started.push(host);
      for (const record of script.open({ ...opening, cwd: dir })) host.send(record);
      await host.next("ready");
      return host;
    },
    async leave() {
      for (const host of started) host.endInput();
      const ends = await Promise.all(started.map((host) => host.ended));
      await until(() => processesWith(mark).length === 0);
      for (const folder of [dir, home]) rmSync(folder, { recursive: true, force: true });
      expect(ends.flatMap(({ violations }) => violations)).toEqual([]);
      expect(ends.map(({ code }) => code)).not.toContain(3);
    },
    heard: () => started.flatMap((host) => host.lines),
    drop() {
      for (const pid of processesWith(mark)) process.kill(pid, "SIGKILL");
    },
  };
}

/** The one process of the room that the relay itself started. */
function agentOf(relay: number, mark: string): number {
  const found = processesWith(`MATRIX=${mark}`).find((pid) => pid !== relay && processesWith(PARLEY).includes(pid));
  if (found === undefined) throw new Error("The relay drives no agent");
  return found;
}
