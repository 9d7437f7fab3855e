/** An agent that Parley drives, with all that it has told. */
import { readFileSync } from "node:fs";
import { drive } from "../../dist/lib/index.js";

export const EVENT_MS = 90_000;

export class Driven {
  events = [];
  #waiting = [];
  #isOver = false;
  #turns = 0;
  #stderr = "";

  constructor(dialect, { argv, env, workspace, pidFile }) {
    // The shell writes its id and becomes the program, so that the program can be killed by its id.
    const command = ["/bin/sh", "-c", 'echo $$ > "$0"; exec "$@"', pidFile, ...argv];
    const onStderr = (text) => (this.#stderr = (this.#stderr + text).slice(-2000));
    this.agent = drive(dialect, command, { env: { ...env, PWD: workspace }, onStderr });
    this.pid = () => Number(readFileSync(pidFile, "utf8"));
    void this.#hear();
  }

  send(op) {
    return this.agent.send({ session: "s", ...op });
  }

  async open(how) {
    await this.send({ type: "session.open", id: "open", ...how });
    const told = await this.next("its session", ({ type, to }) => type === "session.ready" || (type === "reply" && to === "session.open"));
    if (told.type === "session.ready") return told;
    throw new Error(told.fault?.message ?? "the session was refused");
  }

  prompt(text) {
    const turn = `t${++this.#turns}`;
    void this.send({ type: "turn.prompt", id: `p-${turn}`, turn, parts: [{ type: "text", text }] });
    return turn;
  }

  end(turn) {
    return this.next(`the end of ${turn}`, (event) => event.type === "turn.ended" && event.turn === turn);
  }

  async turn(prompt) {
    const turn = this.prompt(prompt);
    const ended = await this.end(turn);
    const of = (type) => this.events.filter((event) => event.type === type && event.turn === turn);
    expect(ended.outcome === "completed", `the turn was ${ended.outcome}: ${ended.reason ?? ended.fault?.message ?? ""}`);
    return {
      ended,
      of,
      text: of("text.done")
        .map(({ text }) => text)
        .join(""),
    };
  }

  async next(name, isIt) {
    const deadline = Date.now() + EVENT_MS;
    for (;;) {
      const found = this.events.find(isIt);
      if (found !== undefined) return found;
      const words = this.#stderr.trim().split("\n").at(-1);
      if (this.#isOver) throw new Error(`it was gone before ${name}${words === "" ? "" : `: ${words}`}`);
      if (Date.now() >= deadline) throw new Error(`${name} did not come within ${EVENT_MS / 1000} s`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now());
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  async #hear() {
    for await (const event of this.agent.events) {
      this.events.push(event);
      this.#wake();
    }
    this.#isOver = true;
    this.#wake();
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

export function expect(isSo, otherwise) {
  if (!isSo) throw new Error(otherwise);
}

export function untilNextMinute() {
  return new Promise((resolve) => setTimeout(resolve, 60_000 - (Date.now() % 60_000) + 500));
}
