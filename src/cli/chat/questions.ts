/** Questions at a terminal: whether a call may run, and what the model asks the user. */
import type { Call, Covers, Event, EventOf } from "../../core/event.js";
import type { Answer } from "../../core/op.js";
import type { Asker } from "./asker.js";
import { askQuestions } from "./user-questions.js";
import type { Screen } from "./screen.js";

/** The most lines of a call's content that the question shows. */
const SHOWN_LINES = 20;

/** The receiver of the answers. */
interface Answering {
  answer(answers: Answer[]): Promise<void>;
  answerRequest(request: string, ok: boolean, data: unknown): Promise<void>;
}

/**
 * Shows the events of a session and asks its questions one at a time. A question is withdrawn when its call is settled otherwise. Events
 * that arrive during a question are shown after the answer. A closed terminal denies.
 */
export class Questions {
  readonly #asker: Asker;
  readonly #screen: Screen;
  readonly #session: Answering;
  /** Unanswered calls and requests, by id. */
  readonly #open = new Map<string, AbortController>();
  #asked: string | undefined;
  #held: Event[] = [];
  #last: Promise<void> = Promise.resolve();

  constructor(asker: Asker, screen: Screen, session: Answering) {
    this.#asker = asker;
    this.#screen = screen;
    this.#session = session;
  }

  follow(event: Event): void {
    if (event.type === "tool.started" || event.type === "tool.ended") this.#withdraw(event.call);
    if (event.type === "host.settled") this.#withdraw(event.request);
    if (this.#asked === undefined) this.#screen.show(event);
    else this.#held.push(event);
    if (event.type === "host.request" && event.kind === "question") {
      this.#open.set(event.request, new AbortController());
      this.#last = this.#last.then(() => this.#askUser(event));
    }
    if (event.type !== "approval.requested") return;
    for (const call of event.calls) this.#open.set(call.id, new AbortController());
    this.#last = this.#last.then(() => this.#ask(event));
  }

  async #ask(event: EventOf<"approval.requested">): Promise<void> {
    const answers: Answer[] = [];
    for (const call of event.calls) {
      const answer = await this.#askAbout(call);
      if (answer !== undefined) answers.push(answer);
    }
    if (answers.length > 0) await this.#session.answer(answers);
  }

  /** Undefined when the question was withdrawn. */
  async #askAbout(call: Call): Promise<Answer | undefined> {
    const asking = this.#open.get(call.id);
    if (asking === undefined) return undefined;
    this.#asked = call.id;
    const reply = await askForApproval(call, this.#asker, this.#screen, asking.signal);
    this.#settle(call.id);
    if (!this.#open.delete(call.id)) return undefined;
    return reply === undefined ? { call: call.id, decision: "deny", reason: "the terminal was closed" } : read(call, reply);
  }

  async #askUser({ request, data }: EventOf<"host.request">): Promise<void> {
    const asking = this.#open.get(request);
    if (asking === undefined) return;
    this.#asked = request;
    const answers = await askQuestions(data, this.#asker, this.#screen, asking.signal);
    this.#settle(request);
    if (!this.#open.delete(request)) return;
    if (answers === undefined) await this.#session.answerRequest(request, false, { message: "the terminal was closed" });
    else await this.#session.answerRequest(request, true, answers);
  }

  #withdraw(call: string): void {
    this.#open.get(call)?.abort();
    this.#open.delete(call);
    this.#settle(call);
  }

  #settle(call: string): void {
    if (this.#asked !== call) return;
    this.#asked = undefined;
    for (const event of this.#held.splice(0)) this.#screen.show(event);
  }
}

async function askForApproval(call: Call, asker: Asker, screen: Screen, signal: AbortSignal): Promise<string | undefined> {
  screen.line(`${screen.foreign(call.title ?? call.name)} needs your approval.`);
  showCall(call, screen);
  const [always, kept] =
    call.covers === undefined
      ? ["", ""]
      : [`[a]lways ${screen.foreign(coverText(call.covers))} in this session, `, "always in this [p]roject, "];
  const question = isPlan(call)
    ? "Go ahead? [y]es, [a]nd edit files unasked, [n]o, or what to change: "
    : `Allow? [y]es, ${always}[n]o, ${kept}or a reason why not: `;
  return asker.ask(question, signal);
}

function coverText({ prefix, domain, tool = "this", within }: Covers): string {
  if (prefix !== undefined) return `\`${prefix} …\``;
  if (domain !== undefined) return `pages of ${domain}`;
  return within === undefined ? tool : `${tool} in the workspace`;
}

/** The effect of the call, so that the user does not approve a title alone. */
function showCall({ name, args = {}, preview = [] }: Call, screen: Screen): void {
  if (preview.length > 0) return screen.parts(preview);
  const { old_string: before, new_string: after, content, command } = args;
  if (name === "Edit" && typeof before === "string" && typeof after === "string")
    screen.diff(`${prefixed("-", before)}\n${prefixed("+", after)}`);
  else if (name === "Write" && typeof content === "string") screen.diff(prefixed("+", cut(content)));
  else if (typeof command === "string") screen.line(screen.foreign(prefixed("  $ ", command)));
  else screen.line(screen.foreign(prefixed("  ", cut(JSON.stringify(args, null, 2)))));
}

function isPlan({ preview = [] }: Call): boolean {
  return preview.some((part) => part.type === "plan");
}

function cut(text: string): string {
  const lines = text.split("\n");
  if (lines.length <= SHOWN_LINES) return text;
  return [...lines.slice(0, SHOWN_LINES), `… ${lines.length - SHOWN_LINES} more lines`].join("\n");
}

/** An empty answer is no. "Always" reaches as far as the question said, else it covers this call alone. */
function read(asked: Call, reply: string): Answer {
  const call = asked.id;
  const word = reply.trim();
  if (/^(y|yes)$/i.test(word)) return { call, decision: "allow" };
  if (/^(a|always)$/i.test(word)) return { call, decision: "allow", grant: isPlan(asked) ? "tool" : "prefix" };
  if (asked.covers !== undefined && /^(p|project)$/i.test(word)) return { call, decision: "allow", grant: "prefix", keep: "project" };
  return { call, decision: "deny", reason: /^(n|no)?$/i.test(word) ? "the user said no" : word };
}

function prefixed(mark: string, text: string): string {
  return text
    .split("\n")
    .map((line) => `${mark}${line}`)
    .join("\n");
}
