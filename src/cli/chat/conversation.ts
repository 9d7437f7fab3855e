/** The conversation: lines from the keyboard become prompts, commands and steering; what the agent tells is shown as it comes. */
import type { Agent } from "../../core/agent.js";
import { textPart } from "../../core/content.js";
import type { Event, EventOf } from "../../core/event.js";
import { mintId } from "../../core/ids.js";
import type { OpOf } from "../../core/op.js";
import type { Opening } from "../../host/session.js";
import { Questions } from "../ask.js";
import { usageLine, type Screen } from "../screen.js";
import { completion } from "./complete.js";
import type { LineInput } from "./line-input.js";
import { commandOf, showResult, THEMES_HELP } from "./results.js";

/** Events of an earlier conversation that are shown again when it is resumed. */
const RECALLED = 40;

export class Conversation {
  readonly #agent: Agent;
  readonly #input: LineInput;
  readonly #screen: Screen;
  #questions: Questions;
  #session = "";
  /** Ops whose answer is still to come, and what to do with it. */
  readonly #waiting = new Map<string, (reply: EventOf<"reply">) => void>();
  /** Turns and commands under way. */
  readonly #busy = new Set<string>();
  #isInterrupted = false;
  #recalled: Event[] = [];
  #toRecall = 0;
  #code = 0;
  #idle: () => void = () => {};

  constructor(agent: Agent, input: LineInput, screen: Screen) {
    this.#agent = agent;
    this.#input = input;
    this.#screen = screen;
    this.#questions = this.#ask();
  }

  /** Until the user leaves; the exit code. */
  async run(opening: Opening, first: string | undefined): Promise<number> {
    const left = new Promise<void>((resolve) => this.#input.terminal.once("close", resolve));
    this.#input.terminal.on("SIGINT", () => this.#interrupt());
    const heard = this.#listen();
    await this.#open(opening);
    this.#input.completeWith((line) => completion(line, (trigger, text) => this.#suggest(trigger, text)));
    this.#input.terminal.on("line", (line) => this.#line(line));
    if (first === undefined) this.#input.prompt();
    else this.#line(first);
    await left;
    await this.#end();
    await heard;
    return this.#code;
  }

  // --- from the keyboard ---

  #line(line: string): void {
    this.#input.prompted();
    const text = line.trim();
    if (text === "") return this.#input.prompt();
    const command = commandOf(text);
    if (command?.name === "quit" || command?.name === "exit") return this.#input.close();
    if (command?.name === "theme") return this.#theme(command.args);
    if (command !== undefined) return this.#command(command);
    if (this.#busy.size > 0) return this.#steer(text);
    this.#prompt({ parts: [textPart(text)], mentions: true });
  }

  #prompt(asked: Pick<OpOf<"turn.prompt">, "parts" | "command" | "mentions">): void {
    const id = mintId();
    this.#busy.add(id);
    this.#isInterrupted = false;
    this.#waiting.set(id, (reply) => {
      if (reply.fault !== undefined) this.#screen.error(reply.fault.message);
      else if (asked.command !== undefined && showResult(asked.command.name, reply.data, this.#screen, (session) => this.#resume(session)))
        return;
      this.#done(id);
    });
    void this.#agent.send({ type: "turn.prompt", id, session: this.#session, ...asked });
  }

  #command(command: { name: string; args: string }): void {
    this.#prompt({ parts: [], command, mentions: true });
  }

  /** Words for a turn that runs are heard by the model at its next step. */
  #steer(text: string): void {
    this.#screen.line("(told to the running turn; Ctrl-C interrupts it)");
    void this.#agent.send({ type: "turn.steer", session: this.#session, parts: [textPart(text)] });
  }

  #theme(name: string): void {
    if (!this.#screen.setTheme(name)) this.#screen.line(THEMES_HELP);
    this.#input.prompt();
  }

  /** The first one interrupts what runs; a second one, or one with nothing under way, leaves. */
  #interrupt(): void {
    if (this.#busy.size === 0 || this.#isInterrupted) {
      return this.#leave(130);
    }
    this.#isInterrupted = true;
    void this.#agent.send({ type: "turn.interrupt", session: this.#session, reason: "interrupted by the user" });
  }

  async #suggest(trigger: "slash" | "at", text: string): Promise<unknown> {
    const id = mintId();
    const answered = new Promise<unknown>((resolve) =>
      this.#waiting.set(id, (reply) => {
        if (reply.status === "loading") return;
        this.#waiting.delete(id);
        resolve(reply.data);
      }),
    );
    await this.#agent.send({ type: "command.suggest", id, session: this.#session, trigger, text });
    return answered;
  }

  // --- sessions ---

  /** Resolves when it is open; throws what it was refused with. */
  async #open({ open = "new", sessionId, config }: Opening): Promise<void> {
    const id = mintId();
    const session = mintId();
    const opened = new Promise<void>((resolve, reject) => {
      this.#waiting.set(id, (reply) => reject(new Error(reply.fault?.message ?? "the session could not be opened")));
      this.#waiting.set(session, () => resolve());
    });
    await this.#agent.send({
      type: "session.open",
      id,
      session,
      open,
      ...(sessionId !== undefined && { sessionId }),
      ...(config !== undefined && { config }),
      ...(open === "resume" && { after: { seq: -1 } }),
    });
    await opened;
    this.#waiting.delete(id);
  }

  /** The old session is left only when the other one is there. */
  #resume(sessionId: string): void {
    const before = this.#session;
    void this.#open({ open: "resume", sessionId })
      .then(() => this.#agent.send({ type: "session.close", session: before }))
      .catch((error: unknown) => this.#screen.error(error instanceof Error ? error.message : String(error)))
      .finally(() => this.#input.prompt());
  }

  #ready(event: EventOf<"session.ready">): void {
    this.#session = event.session ?? "";
    this.#questions = this.#ask();
    this.#busy.clear();
    const { provider = "", model = "", cwd = "" } = event.config ?? {};
    this.#screen.line(`parley · ${provider} ${model} · ${cwd} · /help for commands, /quit leaves`);
    this.#toRecall = typeof event.replay === "number" ? event.replay : 0;
    const opened = this.#waiting.get(this.#session);
    this.#waiting.delete(this.#session);
    opened?.({ type: "reply", to: "session.open", status: "ok" });
  }

  leaveOnSignals(): void {
    process.on("SIGTERM", () => this.#leave(143));
    process.on("SIGHUP", () => this.#leave(129));
  }

  /** At once, with that exit code. */
  #leave(code: number): void {
    this.#code = code;
    this.#input.close();
  }

  /** Who leaves without a hurry lets the turn end: what it asks is answered with no. */
  async #end(): Promise<void> {
    if (this.#code === 0 && this.#busy.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.#agent.send({ type: "shutdown", when: "now" });
  }

  // --- from the agent ---

  async #listen(): Promise<void> {
    for await (const event of this.#agent.events) {
      if (event.type === "session.ready") this.#ready(event);
      else if (event.session === undefined || event.session === this.#session || event.parent !== undefined) this.#hear(event);
    }
  }

  #hear(event: Event): void {
    if (event.replay === true) return this.#recall(event);
    if (event.type === "reply") return this.#replied(event);
    this.#input.above(() => this.#questions.follow(event));
    if (event.type === "turn.started") this.#busy.add(event.parent ?? "");
    if (event.type !== "turn.ended") return;
    this.#screen.line(`(${event.outcome}; ${usageLine(event.usage)})`);
    this.#done(event.parent ?? "");
  }

  #replied(reply: EventOf<"reply">): void {
    const take = this.#waiting.get(reply.parent ?? "");
    this.#input.above(() => take?.(reply));
  }

  #done(id: string): void {
    this.#busy.delete(id);
    this.#waiting.delete(id);
    if (this.#busy.size > 0) return;
    this.#idle();
    this.#input.prompt();
  }

  /** Only the end of what was said before is shown again. */
  #recall(event: Event): void {
    this.#recalled.push(event);
    this.#toRecall--;
    if (this.#toRecall > 0) return;
    const said = this.#recalled.filter(({ type, under }) => SHOWN_AGAIN.has(type) && under === undefined);
    this.#recalled = [];
    this.#input.above(() => {
      if (said.length > RECALLED) this.#screen.line("…");
      for (const shown of said.slice(-RECALLED)) this.#screen.show(shown);
    });
  }

  #ask(): Questions {
    return new Questions(this.#input.terminal, this.#screen, {
      answer: (answers) => this.#agent.send({ type: "approval.answer", session: this.#session, answers }),
    });
  }
}

const SHOWN_AGAIN: ReadonlySet<Event["type"]> = new Set(["user.message", "text.done", "tool.requested", "tool.started", "tool.ended"]);
