import { spawn, type ChildProcessByStdio } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { build } from "rolldown";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { scratch, until } from "../../../test/support/processes.js";
import { takeLock } from "./lock.js";

describe("a lock", () => {
  test("has one owner at a time, and tells who", async () => {
    const file = join(scratch(), "lock");
    const release = await takeLock(file, "Session 's'");
    await expect(takeLock(file, "Session 's'")).rejects.toThrow(
      new RegExp(`^Session 's' is in use by process ${process.pid} since \\d{4}-\\d\\d-\\d\\dT`),
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await release();
    await (
      await takeLock(file, "Session 's'")
    )();
    expect(readdirSync(join(file, ".."))).toEqual([]);
  });

  test("the lock of an ended process is taken over", async () => {
    const file = join(scratch(), "lock");
    writeFileSync(file, await lockOf({ pid: await deadPid() }));
    await takenAndFreed(file);
    expect(readdirSync(join(file, ".."))).toEqual([]);
  });

  test("the lock of an earlier process with the same id is taken over", async () => {
    const file = join(scratch(), "lock");
    writeFileSync(file, await lockOf({ pid: process.pid, born: "long ago" }));
    await takenAndFreed(file);
  });

  test.skipIf(process.platform !== "linux")("the lock of a zombie is taken over", async () => {
    const file = join(scratch(), "lock");
    const { born } = await ownLock();
    // A shell would bury its child; the program that takes its place does not.
    const parent = spawn("bash", ["-c", "sleep 1000 & echo $!; exec tail -f /dev/null"], { stdio: ["ignore", "pipe", "ignore"] });
    onTestFinished(() => void parent.kill("SIGKILL"));
    const pid = Number(await firstLine(parent.stdout));
    await until(() => readFileSync(`/proc/${parent.pid}/comm`, "latin1").trim() === "tail", "the parent's change");
    process.kill(pid, "SIGKILL");
    await until(() => stateOf(pid) === "Z", "a zombie");
    writeFileSync(file, await lockOf({ pid, born: born.replace(/\d+$/, birthTicks(pid)) }));
    await takenAndFreed(file);
  });

  test("a lock that a power cut left empty is taken over", async () => {
    const file = join(scratch(), "lock");
    writeFileSync(file, "");
    await takenAndFreed(file);
  });

  test("the lock of another machine counts while its owner renews it", async () => {
    const file = join(scratch(), "lock");
    writeFileSync(file, await lockOf({ host: "elsewhere" }));
    await expect(takeLock(file, "s")).rejects.toThrow(/^s is in use by process \d+ on elsewhere since/);
    utimesSync(file, new Date(), new Date(Date.now() - 61_000));
    await takenAndFreed(file);
  });

  test("the lock of a container with its own process ids counts while its owner renews it", async () => {
    const file = join(scratch(), "lock");
    writeFileSync(file, await lockOf({ host: hostname(), space: "pid:[1]", pid: await deadPid() }));
    await expect(takeLock(file, "s")).rejects.toThrow("in use");
  });

  test("a lock that another process took over is not removed on release", async () => {
    const file = join(scratch(), "lock");
    const release = await takeLock(file, "s");
    rmSync(file);
    const other = await takeLock(file, "s");
    const text = readFileSync(file, "utf8");
    await release();
    expect(readFileSync(file, "utf8")).toBe(text);
    await other();
  });

  test("a lock whose successor died while taking it over is succeeded in turn", async () => {
    const folder = scratch();
    const file = join(folder, "lock");
    const pid = await deadPid();
    writeFileSync(file, await lockOf({ pid, token: "FIRST" }));
    writeFileSync(`${file}.after.FIRST`, await lockOf({ pid, token: "SECOND" }));
    const release = await takeLock(file, "s");
    expect(readdirSync(folder)).toEqual(["lock"]);
    await release();
  });

  test("a lock belongs to the process that is just taking it over", async () => {
    const file = join(scratch(), "lock");
    writeFileSync(file, await lockOf({ pid: await deadPid(), token: "FIRST" }));
    writeFileSync(`${file}.after.FIRST`, await lockOf({ host: "elsewhere", token: "SECOND" }));
    await expect(takeLock(file, "s")).rejects.toThrow("on elsewhere");
  });
});

describe("processes that race for one lock", () => {
  let program = "";
  beforeAll(async () => {
    const { output } = await build({
      input: join(import.meta.dirname, "../../../test/fixtures/lock-racer.ts"),
      platform: "node",
      output: { format: "esm", codeSplitting: false },
      write: false,
      logLevel: "silent",
    });
    program = output[0].code;
  });

  test("exactly one gets it, also when the last owner was killed, thirty times in a row", async () => {
    const folder = scratch();
    const file = join(folder, "lock");
    const racerFile = join(folder, "racer.mjs");
    writeFileSync(racerFile, program);
    const racers = Array.from({ length: 6 }, () => new Racer(racerFile, file));
    await Promise.all(racers.map((racer) => racer.said("ready")));
    for (let round = 0; round < 30; round++) {
      const results = await Promise.all(racers.map((racer) => racer.try()));
      const won = results.flatMap((result, index) => (result === "won" ? [index] : []));
      expect(won, results.join("; ")).toHaveLength(1);
      for (const result of results) if (result !== "won") expect(result).toMatch(/in use by process|several processes at once/);
      const index = won[0] ?? 0;
      // Every third one lets go in order; the others are killed, and their lock is stale for the next round.
      if (round % 3 === 0) await racers[index]?.release();
      else {
        await racers[index]?.kill();
        const next = new Racer(racerFile, file);
        racers[index] = next;
        await next.said("ready");
      }
    }
  });
});

class Racer {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: string[] = [];
  #read = 0;
  #wake: () => void = () => {};

  constructor(program: string, lock: string) {
    this.#child = spawn(process.execPath, [program, lock], { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void this.#child.kill("SIGKILL"));
    createInterface(this.#child.stdout).on("line", (line) => {
      this.#lines.push(line);
      this.#wake();
    });
  }

  async try(): Promise<string> {
    this.#child.stdin.write("try\n");
    return this.#next();
  }

  async release(): Promise<void> {
    this.#child.stdin.write("release\n");
    await this.said("released");
  }

  async kill(): Promise<void> {
    const exited = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await exited;
  }

  async said(word: string): Promise<void> {
    expect(await this.#next()).toBe(word);
  }

  async #next(): Promise<string> {
    while (this.#read === this.#lines.length) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#lines[this.#read++] ?? "";
  }
}

/** A lock as this process would write it, with some of it changed. */
async function lockOf(change: Record<string, unknown>): Promise<string> {
  return JSON.stringify({ ...(await ownLock()), ...change });
}

async function ownLock(): Promise<{ born: string }> {
  const file = join(scratch(), "lock");
  const release = await takeLock(file, "s");
  const fields = JSON.parse(readFileSync(file, "utf8"));
  await release();
  return fields;
}

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
  return child.pid ?? 0;
}

async function firstLine(stream: Readable): Promise<string> {
  for await (const line of createInterface(stream)) return line;
  return "";
}

function stateOf(pid: number): string | undefined {
  return fieldsOf(pid)[0];
}

function birthTicks(pid: number): string {
  return fieldsOf(pid)[19] ?? "";
}

function fieldsOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

async function takenAndFreed(file: string): Promise<void> {
  const free = await takeLock(file, "s");
  await expect(takeLock(file, "s")).rejects.toThrow(/^s is in use by/);
  await free();
}
