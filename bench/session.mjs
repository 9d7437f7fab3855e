/**
 * A subject in a process of its own, and the clock beside it. While something is measured, output is only kept and searched for the mark
 * that ends the wait; it is taken apart afterwards.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { now } from "./clock.mjs";

/** After this long a wait counts as broken. */
const PATIENCE_MS = 30_000;
const GRACE_MS = 5000;
const LF = 0x0a;

export class Session {
  /** When the process was asked for. */
  started;
  /** Sessions are kept, so each has a name of its own. */
  #name = randomUUID();
  #child;
  #subject;
  #chunks = [];
  #stderr = "";
  #wait;
  #exit;

  constructor(subject, place) {
    this.#subject = subject;
    this.started = now();
    this.#child = spawn(process.execPath, subject.argv, { cwd: place.workspace, env: place.env, stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stdout.on("data", (chunk) => this.#take(chunk, now()));
    this.#child.stderr.on("data", (chunk) => (this.#stderr += chunk));
    this.#child.stdin.on("error", () => {});
    this.#exit = new Promise((resolve) => {
      this.#child.on("exit", () => {
        const at = now();
        this.#child.on("close", () => resolve(at));
      });
      this.#child.on("error", (error) => {
        this.#stderr += error.message;
        resolve(now());
      });
    });
    void this.#exit.then(() =>
      this.#wait?.fail(new Error(`${subject.name} left too early: ${this.#stderr.slice(-2000) || "without a word"}`)),
    );
  }

  get pid() {
    return this.#child.pid;
  }

  /** Resolves with the time at which the subject was ready. */
  async ready() {
    this.open();
    const at = await this.#until(this.#subject.ready);
    this.records();
    return at;
  }

  /** Runs one turn: when it was asked for, when its first delta and its end came, and what it said. */
  async turn(prompt) {
    const { end, delta, turn } = this.#subject;
    const from = now();
    this.prompt(prompt);
    const to = await this.#until(end);
    const firstDelta = this.#chunks.find(({ chunk }) => chunk.includes(delta))?.at;
    return { from, to, firstDelta, said: turn(this.records()) };
  }

  open() {
    const opening = this.#subject.opening(this.#name);
    if (opening !== undefined) this.#write(opening);
  }

  prompt(text) {
    this.#write(this.#subject.prompt(text, this.#name));
  }

  #write(record) {
    this.#child.stdin.write(`${JSON.stringify(record)}\n`);
  }

  /** No more input; resolves with the time at which the process had left by itself. */
  async leave() {
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), GRACE_MS);
    const at = await this.#exit;
    clearTimeout(timer);
    if (this.#child.signalCode === "SIGKILL")
      throw new Error(`${this.#subject.name} did not leave within ${GRACE_MS} ms of the end of its input`);
    return at;
  }

  /** Whatever state it is in. */
  kill() {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGKILL");
  }

  /** Everything said since the last time. */
  records() {
    const text = Buffer.concat(this.#chunks.map(({ chunk }) => chunk)).toString();
    this.#chunks = [];
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }

  #until(mark) {
    return new Promise((resolve, reject) => {
      const settle = (done, value) => {
        clearTimeout(timer);
        this.#wait = undefined;
        done(value);
      };
      const timer = setTimeout(() => settle(reject, new Error(this.#silence(mark))), PATIENCE_MS);
      this.#wait = { mark, seen: false, tail: Buffer.alloc(0), done: (at) => settle(resolve, at), fail: (error) => settle(reject, error) };
    });
  }

  #silence(mark) {
    const last = this.#chunks.at(-1)?.chunk.toString().slice(-500) ?? "nothing";
    return `${this.#subject.name} did not say ${mark} within ${PATIENCE_MS} ms; the last that it said: ${last}`;
  }

  /** The mark may lie across two chunks, and its line must be whole. */
  #take(chunk, at) {
    this.#chunks.push({ chunk, at });
    const wait = this.#wait;
    if (wait === undefined) return;
    wait.seen ||= chunk.includes(wait.mark) || Buffer.concat([wait.tail, chunk.subarray(0, wait.mark.length)]).includes(wait.mark);
    if (wait.seen && chunk[chunk.length - 1] === LF) return wait.done(at);
    wait.tail = Buffer.concat([wait.tail, chunk]).subarray(-wait.mark.length);
  }
}
