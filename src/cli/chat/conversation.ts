/** The conversation: makes prompts, commands and steering of the user's lines, and shows the agent's events. */
import type { Agent } from "../../core/agent.js";
import { textPart } from "../../core/content.js";
import { messageOf, ParleyError } from "../../core/errors.js";
import type { Event, EventOf } from "../../core/event.js";
import { mintId } from "../../core/ids.js";
import type { OpOf } from "../../core/op.js";
import type { Opening } from "../../host/session.js";
import { Questions } from "./questions.js";
import { endLine, THEMES, type Screen } from "./screen.js";
import { completion } from "./complete.js";
import type { Entry, LineInput } from "./line-input.js";
import { Recall } from "./recall.js";
import { Replies } from "./replies.js";
import { commandOf, showResult, THEMES_HELP } from "./results.js";

export class Conversation {
  readonly #agent: Agent;
  readonly #input: LineInput;
  readonly #screen: Screen;
  readonly #replies = new Replies();
  #questions: Questions;
  #recall = new Recall(0);
  #session = "";
  #opened: () => void = () => {};
  /** Unfinished prompts and commands, by op. */
  readonly #busy = new Set<string>();
  #hasTurn = false;
  #isInterrupted = false;
  #code = 0;
  #idle: () => void = () => {};

  constructor(agent: Agent, input: LineInput, screen: Screen) {
    this.#agent = agent;
    this.#input = input;
    this.#screen = screen;
    this.#questions = this.#ask();
  }

  /** Runs until the user leaves, and returns the exit code. */
  async run(opening: Opening, first: string | undefined): Promise<number> {
    const heard = this.#listen();
    await this.#open(opening);
    this.#input.completeWith((line) => completion(line, (trigger, text) => this.#suggest(trigger, text)));
    if (first === undefined) this.#input.prompt();
    else {
      this.#screen.line(`\n> ${first}`);
      this.#entered({ typed: first, text: first });
    }
    this.#input.listen({ entered: (entry) => this.#entered(entry), interrupted: () => this.#interrupt() });
    await this.#input.closed;
    await this.#end();
    await heard;
    return this.#code || (this.#input.left ?? 0);
  }

  // --- from the keyboard ---

  #entered({ typed, text: written }: Entry): void {
    const text = written.trim();
    if (text === "") return this.#ready();
    const command = typed.startsWith("/") ? commandOf(text) : undefined;
    if (command?.name === "quit" || command?.name === "exit") return this.#input.close();
    if (command?.name === "theme") return this.#theme(command.args);
    if (command !== undefined) return this.#prompt({ parts: [], command, mentions: true });
    if (this.#hasTurn) return this.#steer(text);
    this.#prompt({ parts: [textPart(text)], mentions: true });
  }

  #prompt(asked: Pick<OpOf<"turn.prompt">, "parts" | "command" | "mentions">): void {
    const id = this.#replies.expect((reply) => {
      if (reply.fault !== undefined) this.#screen.error(reply.fault.message);
      else if (showResult(reply.data, this.#screen, (session) => this.#resume(session, id))) return;
      this.#done(id);
    });
    this.#busy.add(id);
    this.#isInterrupted = false;
    void this.#agent.send({ type: "turn.prompt", id, session: this.#session, ...asked });
  }

  /** Words during a turn reach the model at its next step; words that come too late become a prompt. */
  #steer(text: string): void {
    const parts = [textPart(text)];
    const id = this.#replies.expect(({ status, fault }) => {
      if (fault !== undefined) this.#screen.error(fault.message);
      else if (status === "noop") this.#prompt({ parts, mentions: true });
      else this.#screen.aside("(told to the running turn; Ctrl-C interrupts it)");
    });
    void this.#agent.send({ type: "turn.steer", id, session: this.#session, parts });
  }

  #theme(name: string): void {
    if (name === "") this.#screen.line(THEMES_HELP);
    else if (this.#screen.setTheme(name)) this.#screen.line(`The theme is ${name}.`);
    else this.#screen.error(`There is no theme '${name}' (${THEMES.join(", ")})`);
    this.#ready();
  }

  /** The first Ctrl-C interrupts the turn; a second one, or one without a turn and a half-written line, leaves. */
  #interrupt(): void {
    if (this.#busy.size === 0 && this.#input.drop()) return;
    if (this.#busy.size === 0 || this.#isInterrupted) return this.#leave(130);
    this.#isInterrupted = true;
    void this.#agent.send({ type: "turn.interrupt", session: this.#session, reason: "interrupted by the user" });
  }

  #suggest(trigger: "slash" | "at", text: string): Promise<unknown> {
    return new Promise((resolve) => {
      const id = this.#replies.expect(({ data }) => resolve(data));
      void this.#agent.send({ type: "command.suggest", id, session: this.#session, trigger, text });
    });
  }

  /** Shows the prompt, unless work is under way; the user may write during it, too. */
  #ready(): void {
    if (this.#busy.size === 0) this.#input.prompt();
  }

  // --- sessions ---

  /** Resolves when the session is open; throws the refusal. */
  #open({ open = "new", sessionId, config }: Opening): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#opened = resolve;
      const id = this.#replies.expect(({ fault }) => fault !== undefined && reject(new ParleyError(fault)));
      void this.#agent.send({
        type: "session.open",
        id,
        session: mintId(),
        open,
        ...(sessionId !== undefined && { sessionId }),
        ...(config !== undefined && { config }),
        ...(open === "resume" && { after: { seq: -1 } }),
      });
    });
  }

  /** The old session is closed only after the new one is ready; then the command is over. */
  #resume(sessionId: string, command: string): void {
    const before = this.#session;
    void this.#open({ open: "resume", sessionId })
      .then(() => this.#agent.send({ type: "session.close", session: before }))
      .catch((error: unknown) => this.#screen.error(messageOf(error)))
      .finally(() => this.#done(command));
  }

  #begins(event: EventOf<"session.ready">): void {
    this.#session = event.session ?? "";
    this.#questions = this.#ask();
    this.#recall = new Recall(typeof event.replay === "number" ? event.replay : 0);
    this.#busy.clear();
    this.#hasTurn = false;
    this.#label(event);
    const { provider = "", model = "", cwd = "" } = event.config ?? {};
    const name = model === provider ? model : `${provider} ${model}`;
    this.#screen.line(`parley · ${name} · ${cwd} · /help for commands, /quit leaves`);
    this.#opened();
  }

  /** A mode other than the default stands before every line. */
  #label({ config }: EventOf<"session.ready" | "session.updated">): void {
    const mode = config?.mode ?? "default";
    this.#input.label(mode === "default" ? "> " : `${mode}> `);
  }

  leaveOnSignals(): void {
    for (const [signal, code] of Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 })) process.on(signal, () => this.#leave(code));
  }

  /** Leaves at once, with this exit code. */
  #leave(code: number): void {
    this.#code = code;
    this.#input.close();
    this.#idle();
  }

  /** A user who leaves by a command lets the turn end; its questions are answered with no. */
  async #end(): Promise<void> {
    if (this.#code === 0 && this.#busy.size > 0) {
      this.#screen.aside("(leaving when the turn has ended; Ctrl-C interrupts it)");
      await new Promise<void>((resolve) => (this.#idle = resolve));
    }
    await this.#agent.send({ type: "shutdown", when: "now" });
  }

  // --- from the agent ---

  async #listen(): Promise<void> {
    for await (const event of this.#agent.events) {
      if (event.type === "session.ready") this.#begins(event);
      else if (event.type === "reply") this.#replies.heard(event);
      else if (event.session === undefined || event.session === this.#session) this.#hear(event);
    }
  }

  #hear(event: Event): void {
    if (event.replay === true) return this.#recall.take(event, this.#screen);
    if (!isToldByCommand(event)) this.#questions.follow(event);
    if (event.type === "session.updated") this.#label(event);
    if (event.type === "turn.started") {
      this.#busy.add(event.parent ?? "");
      this.#hasTurn = true;
    }
    if (event.type !== "turn.ended") return;
    this.#hasTurn = false;
    this.#screen.aside(endLine(event));
    this.#done(event.parent ?? "");
  }

  #done(id: string): void {
    this.#busy.delete(id);
    if (this.#busy.size > 0) return;
    this.#idle();
    this.#input.prompt();
  }

  #ask(): Questions {
    return new Questions(this.#input, this.#screen, {
      answer: (answers) => this.#agent.send({ type: "approval.answer", session: this.#session, answers }),
      answerRequest: (request, ok, data) => this.#agent.send({ type: "host.answer", session: this.#session, request, ok, data }),
    });
  }
}

/** The command's own reply shows the result of /compact, too. */
function isToldByCommand(event: Event): boolean {
  if (event.turn !== undefined) return false;
  return event.type === "compaction" ? event.phase === "ended" : event.type === "notice" && event.kind === "compaction";
}
