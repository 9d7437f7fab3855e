/** The questions of a session, one at a time: whether calls may run, and what the model asks the user. */
import * as v from "valibot";
import type { Call, Event, EventOf } from "../../core/event.js";
import type { Answer } from "../../core/op.js";
import { Questions, type QuestionAnswers } from "../../core/question.js";
import { readApproval, readAnswer } from "./replies-of-people.js";
import type { ChatView } from "./view.js";

type Asker = Pick<ChatView, "approve" | "answer">;

/** The receiver of the answers. */
export interface Answering {
  answer(answers: Answer[]): Promise<void>;
  answerRequest(request: string, ok: boolean, data: unknown): Promise<void>;
}

/** A question is withdrawn when its call is settled otherwise. A closed terminal denies. */
export class Interview {
  readonly #asker: Asker;
  readonly #session: Answering;
  /** Unanswered calls and requests, by id. */
  readonly #open = new Map<string, AbortController>();
  #last: Promise<void> = Promise.resolve();

  constructor(asker: Asker, session: Answering) {
    this.#asker = asker;
    this.#session = session;
  }

  follow(event: Event): void {
    if (event.type === "tool.started" || event.type === "tool.ended") this.#withdraw(event.call);
    if (event.type === "approval.settled") this.#withdraw(event.call);
    if (event.type === "host.settled") this.#withdraw(event.request);
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
    const reply = await this.#asker.approve(call, asking.signal);
    if (!this.#open.delete(call.id)) return undefined;
    return reply === undefined ? { call: call.id, decision: "deny", reason: "the terminal was closed" } : readApproval(call, reply);
  }

  async #askUser({ request, data }: EventOf<"host.request">): Promise<void> {
    const asking = this.#open.get(request);
    if (asking === undefined) return;
    const answers = await this.#answers(data, asking.signal);
    if (!this.#open.delete(request)) return;
    if (answers === undefined) await this.#session.answerRequest(request, false, { message: "the terminal was closed" });
    else await this.#session.answerRequest(request, true, answers);
  }

  /** Undefined when the questions were withdrawn, the terminal was closed, or the data are no questions. */
  async #answers(data: unknown, signal: AbortSignal): Promise<QuestionAnswers | undefined> {
    const asked = v.safeParse(Questions, data);
    if (!asked.success) return undefined;
    const answers: QuestionAnswers["answers"] = [];
    for (const question of asked.output.questions) {
      const { question: text, header, options, multiple } = question;
      const choices = options.map(({ label, description }) => ({ value: label, label, description }));
      const whole = header === undefined ? text : `${header}: ${text}`;
      const reply = await this.#asker.answer({ text: whole, options: choices, isMultiple: multiple === true }, signal);
      if (reply === undefined) return undefined;
      answers.push(readAnswer(question, reply));
    }
    return { answers };
  }

  #withdraw(id: string): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }
}
