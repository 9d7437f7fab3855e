/** The conversation: makes prompts, commands and steering of the user's words, and shows the agent's events. */
import * as v from "valibot";
import type { Agent } from "../../core/agent.js";
import { CommandReply, SuggestReply } from "../../core/command.js";
import type { Mode } from "../../core/config.js";
import { textPart, type Part } from "../../core/content.js";
import { messageOf, ParleyError } from "../../core/errors.js";
import type { Event, EventOf } from "../../core/event.js";
import { mintId } from "../../core/ids.js";
import type { OpOf } from "../../core/op.js";
import { branchOf, gitRepositoryOf } from "../../engine/workspace/repository.js";
import type { Opening } from "../../host/session.js";
import { Interview } from "./interview.js";
import { PastedImages } from "./pasted-images.js";
import { commandOf, showResult } from "./results.js";
import { Recall } from "./recall.js";
import { Replies } from "./replies.js";
import type { UserShell } from "./user-shell.js";
import { THEMES } from "./theme.js";
import type { ChatListener, ChatView, Status, Suggested } from "./view.js";

/** Shift-Tab goes through these; `yolo` has to be asked for by name. */
const MODES: readonly Mode[] = ["default", "auto_edit", "plan"];

export class Conversation implements ChatListener {
  readonly #agent: Agent;
  readonly #view: ChatView;
  readonly #shell: UserShell;
  readonly #replies = new Replies();
  readonly #images = new PastedImages();
  #interview: Interview;
  #recall = new Recall(0);
  #session = "";
  /** The name by which the session can be resumed. */
  #sessionId: string | undefined;
  #opened: () => void = () => {};
  #status: Status = { mode: "default", model: "", folder: "" };
  /** Unfinished prompts and commands, by op. */
  readonly #busy = new Set<string>();
  #hasTurn = false;
  #hasTalked = false;
  #isInterrupted = false;
  /** Prompts that wait for the end of the turn. */
  #queue: string[] = [];
  /** The user's own commands between two prompts, for the model to know. */
  #asides: Part[] = [];
  #isLeaving = false;
  #idle: () => void = () => {};

  constructor(agent: Agent, view: ChatView, shell: UserShell) {
    this.#agent = agent;
    this.#view = view;
    this.#shell = shell;
    this.#interview = this.#newInterview();
  }

  /** Runs until the user leaves, and returns the exit code. */
  async run(opening: Opening, first: string | undefined): Promise<number> {
    const heard = this.#listen();
    await this.#open(opening);
    this.#view.listen(this);
    if (first !== undefined) this.entered(first);
    await this.#view.left;
    await this.#end();
    await heard;
    return this.#view.code;
  }

  /** How to go on with the conversation later; undefined where nothing was said. */
  get resumption(): string | undefined {
    return this.#hasTalked && this.#sessionId !== undefined ? `parley --resume ${this.#sessionId}` : undefined;
  }

  // --- the user ---

  entered(text: string): void {
    const written = text.trim();
    if (written === "") return;
    const command = commandOf(written);
    if (command !== undefined) return this.#command(command);
    if (written.startsWith("!") && written.length > 1) return void this.#runByUser(written.slice(1).trim());
    if (!this.#hasTurn && this.#busy.size === 0) return this.#prompt(written);
    this.#queue.push(written);
    this.#view.queued(this.#queue);
  }

  steered(text: string): void {
    const written = text.trim();
    if (written === "") return;
    if (!this.#hasTurn) return this.entered(written);
    const parts = [textPart(written), ...this.#images.in(written)];
    const id = this.#replies.expect(({ status, fault }) => {
      if (fault !== undefined) this.#view.say("error", fault.message);
      else if (status === "noop") this.#prompt(written);
      else this.#view.say("aside", `Told to the running turn: ${written}`);
    });
    void this.#agent.send({ type: "turn.steer", id, session: this.#session, parts });
  }

  /** The first time the turn is interrupted, and prompts that wait are put back to be edited; then there is nothing to interrupt. */
  interrupted(): boolean {
    if (this.#busy.size === 0 || this.#isInterrupted) return false;
    this.#isInterrupted = true;
    this.#shell.stop();
    void this.#agent.send({ type: "turn.interrupt", session: this.#session, reason: "interrupted by the user" });
    const waiting = this.#queue.splice(0);
    if (waiting.length > 0) {
      this.#view.queued([]);
      this.#view.edit(waiting.join("\n"));
    }
    return true;
  }

  modeWanted(): void {
    const mode = MODES[(MODES.indexOf(this.#status.mode) + 1) % MODES.length] ?? "default";
    const id = this.#replies.expect(({ fault }) => fault !== undefined && this.#view.say("error", fault.message));
    void this.#agent.send({ type: "session.configure", id, session: this.#session, patch: { mode } });
  }

  rewindWanted(): void {
    if (this.#hasTalked) this.#command({ name: "rewind", args: "" });
  }

  async imageWanted(): Promise<string | undefined> {
    try {
      return await this.#images.take();
    } catch (error) {
      this.#view.say("warning", messageOf(error));
      return undefined;
    }
  }

  takeQueued(): string | undefined {
    const text = this.#queue.pop();
    this.#view.queued(this.#queue);
    return text;
  }

  suggest(trigger: "slash" | "at", text: string): Promise<Suggested[]> {
    return new Promise((resolve) => {
      const id = this.#replies.expect(({ data }) => resolve(v.is(SuggestReply, data) && data.perfect !== true ? data.suggestions : []));
      void this.#agent.send({ type: "command.suggest", id, session: this.#session, trigger, text });
    });
  }

  abandoned(): void {
    this.#idle();
  }

  #command(command: { name: string; args: string }): void {
    switch (command.name) {
      case "quit":
      case "exit":
        return this.#view.leave(0);
      case "theme":
        return void this.#theme(command.args).then(() => this.#rest());
      case "steer":
        return this.steered(command.args);
      default:
        return this.#send({ parts: [], command, mentions: true });
    }
  }

  #prompt(text: string): void {
    this.#view.prompted(text);
    this.#hasTalked = true;
    this.#send({ parts: [...this.#asides.splice(0), textPart(text), ...this.#images.in(text)], mentions: true });
  }

  #send(asked: Pick<OpOf<"turn.prompt">, "parts" | "command" | "mentions">): void {
    const id = this.#replies.expect((reply) => {
      if (reply.fault !== undefined) this.#view.say("error", reply.fault.message);
      else if (v.is(CommandReply, reply.data) && this.#answered(reply.data, id)) return;
      this.#done(id);
    });
    this.#busy.add(id);
    this.#isInterrupted = false;
    this.#view.busy(true);
    void this.#agent.send({ type: "turn.prompt", id, session: this.#session, ...asked });
  }

  /** True when the command goes on: as a turn, as a choice of the user, or in another session. */
  #answered({ command, result }: CommandReply, id: string): boolean {
    if (result.type === "submit_prompt") {
      this.#view.prompted(`/${command.name} ${command.args ?? ""}`.trim());
      this.#hasTalked = true;
      return true;
    }
    if (result.type === "dialog" && result.dialog === "resume" && (command.args ?? "") !== "") {
      const [chosen] = result.choices ?? [];
      if (chosen !== undefined) this.#resume(chosen.value, id);
      return chosen !== undefined;
    }
    const choices = choicesIn(result);
    if (choices.length === 0) showResult(command.name, result, this.#view);
    else void this.#choose(command.name, result.type === "dialog" ? result.text : "Choose one to see more", choices);
    return false;
  }

  async #choose(name: string, text: string, choices: Offered): Promise<void> {
    // The session at hand is not one to go on with.
    const offered = name === "resume" ? choices.filter(({ current }) => current !== true) : choices;
    if (offered.length === 0) return this.#view.say("aside", "There is no other session of this workspace.");
    const picked = await this.#view.pick(
      text,
      offered.map((choice) => ({ ...choice, label: choice.label ?? choice.value })),
    );
    if (picked === undefined) this.#rest();
    else this.#command({ name, args: picked });
  }

  async #theme(name: string): Promise<void> {
    const choices = THEMES.map((value) => ({ value, label: value, current: value === this.#view.theme }));
    const chosen = name === "" ? await this.#view.pick("Themes (theme: NAME in config.yaml keeps one)", choices) : name;
    if (chosen === undefined) return;
    if (this.#view.setTheme(chosen)) this.#view.say("aside", `The theme is ${chosen}.`);
    else this.#view.say("error", `There is no theme '${chosen}' (${THEMES.join(", ")})`);
  }

  async #runByUser(command: string): Promise<void> {
    const id = mintId();
    this.#busy.add(id);
    this.#view.busy(true);
    this.#view.prompted(`!${command}`);
    const { text, told } = await this.#shell.run(command, this.#status.folder);
    this.#view.parts([{ type: "terminal", text }]);
    this.#asides.push(textPart(told));
    this.#done(id);
  }

  // --- sessions ---

  /** Resolves when the session is open; throws the refusal. */
  #open({ open = "new", sessionId, config, ...more }: Opening): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#opened = resolve;
      const id = this.#replies.expect(({ fault }) => fault !== undefined && reject(new ParleyError(fault)));
      void this.#agent.send({
        type: "session.open",
        id,
        session: mintId(),
        open,
        ...more,
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
      .catch((error: unknown) => this.#view.say("error", messageOf(error)))
      .finally(() => this.#done(command));
  }

  #begins(event: EventOf<"session.ready">): void {
    this.#session = event.session ?? "";
    this.#sessionId = event.sessionId;
    this.#interview = this.#newInterview();
    this.#recall = new Recall(typeof event.replay === "number" ? event.replay : 0);
    this.#hasTalked = this.#recall.left > 0;
    this.#busy.clear();
    this.#hasTurn = false;
    this.#asides = [];
    this.#status = { ...this.#status, context: undefined };
    this.#configured(event);
    this.#view.say("aside", `parley · ${this.#status.model} · ${this.#status.folder} · /help for commands, /quit leaves`);
    this.#view.busy(false);
    this.#opened();
  }

  #configured({ config }: EventOf<"session.ready" | "session.updated">): void {
    const { provider = "", model = "", cwd = this.#status.folder, mode = "default" } = config ?? {};
    this.#update({ mode, model: model === provider || provider === "" ? model : `${provider} ${model}`, folder: cwd });
    void this.#lookAtBranch();
  }

  #update(patch: Partial<Status>): void {
    this.#status = { ...this.#status, ...patch };
    this.#view.status(this.#status);
  }

  /** Sub-agents fill a window of their own. */
  #used({ scope, under, context = this.#status.context, cost }: EventOf<"usage">): void {
    if (under === undefined) this.#update({ context });
    if (scope === "call" && cost !== undefined) this.#update({ cost: (this.#status.cost ?? 0) + cost });
  }

  async #lookAtBranch(): Promise<void> {
    const repository = await gitRepositoryOf(this.#status.folder);
    const branch = repository === undefined ? undefined : await branchOf(repository);
    if (branch !== this.#status.branch) this.#update({ branch });
  }

  /** A user who leaves by a command lets the turn end; its questions are answered with no. */
  async #end(): Promise<void> {
    this.#isLeaving = true;
    if (this.#view.code === 0 && this.#busy.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.#agent.send({ type: "shutdown", when: "now" });
  }

  // --- the agent ---

  async #listen(): Promise<void> {
    for await (const event of this.#agent.events) {
      if (event.type === "session.ready") this.#begins(event);
      else if (event.type === "reply") this.#replies.heard(event);
      else if (event.session === undefined || event.session === this.#session) this.#hear(event);
    }
  }

  #hear(event: Event): void {
    if (event.replay === true) return this.#recall.take(event, this.#view);
    if (!isToldByCommand(event)) {
      this.#view.show(event);
      this.#interview.follow(event);
    }
    if (event.type === "session.updated") this.#configured(event);
    if (event.type === "usage") this.#used(event);
    if (event.type === "turn.started") {
      this.#busy.add(event.parent ?? "");
      this.#hasTurn = true;
      this.#view.busy(true);
    }
    if (event.type !== "turn.ended") return;
    this.#hasTurn = false;
    void this.#lookAtBranch();
    this.#done(event.parent ?? "");
  }

  #done(id: string): void {
    this.#busy.delete(id);
    if (this.#busy.size > 0) return;
    this.#idle();
    const next = this.#isLeaving ? undefined : this.#queue.shift();
    if (next === undefined) return this.#view.busy(false);
    this.#view.queued(this.#queue);
    this.#prompt(next);
  }

  /** Nothing came of the last words, or it is told already. */
  #rest(): void {
    if (this.#busy.size === 0) this.#view.busy(false);
  }

  #newInterview(): Interview {
    return new Interview(this.#view, {
      answer: (answers) => this.#agent.send({ type: "approval.answer", session: this.#session, answers }),
      answerRequest: (request, ok, data) => this.#agent.send({ type: "host.answer", session: this.#session, request, ok, data }),
    });
  }
}

type Offered = NonNullable<Extract<CommandReply["result"], { type: "dialog" }>["choices"]>;

/** Help tells what there is; every other list is one to choose from. */
function choicesIn(result: CommandReply["result"]): Offered {
  if (result.type === "message") return result.choices ?? [];
  return result.type === "dialog" && result.dialog !== "help" ? (result.choices ?? []) : [];
}

/** The command's own reply shows the result of /compact, too. */
function isToldByCommand(event: Event): boolean {
  if (event.turn !== undefined) return false;
  return event.type === "compaction" ? event.phase === "ended" : event.type === "notice" && event.kind === "compaction";
}
