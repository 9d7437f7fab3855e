/** A host of the json-stream family, as the probes of its dialects play it. */
import type { Conversation, WireRecord } from "../grade/conversation.js";
import type { Scene, Start } from "../grade/scene.js";
import { at, is } from "./records.js";

export class StreamHost {
  readonly conversation: Conversation & { pid: number };
  /** The field that holds a message's text. */
  readonly #text: "input" | "content";

  /** Starts the agent, which is ready. */
  static async open(scene: Scene, text: "input" | "content" = "input", start: Start = {}): Promise<StreamHost> {
    const host = new StreamHost(await scene.start(start), text);
    await host.conversation.next("ready", is("ready"));
    return host;
  }

  private constructor(conversation: Conversation & { pid: number }, text: "input" | "content") {
    this.conversation = conversation;
    this.#text = text;
  }

  message(msg_id: string, text: string, files?: readonly string[]): void {
    this.conversation.say({ type: "message", msg_id, [this.#text]: text, ...(files !== undefined && { files }) });
  }

  answer(request: WireRecord, how: "approve" | "always" | "deny", reason?: string): void {
    const { call_id } = request;
    if (how === "deny") this.conversation.say({ type: "tool_deny", call_id, ...(reason !== undefined && { reason }) });
    else this.conversation.say({ type: "tool_approve", call_id, scope: how === "always" ? "always" : "once" });
  }

  mode(mode: string): void {
    this.conversation.say({ type: "set_mode", mode });
  }

  request(nth = 1): Promise<WireRecord> {
    return this.conversation.next(nth === 1 ? "tool_request" : `tool_request number ${nth}`, is("tool_request"), nth);
  }

  get requests(): WireRecord[] {
    return this.conversation.all(is("tool_request"));
  }

  end(msg_id: string): Promise<WireRecord> {
    return this.conversation.next(`stream_end of message ${msg_id}`, is("stream_end", { msg_id }));
  }

  /** Approves whatever is asked for until the message ends. */
  async finish(msg_id: string): Promise<void> {
    for (let nth = 1; ; nth++) {
      const isNext = (rec: WireRecord): boolean => is("stream_end", { msg_id })(rec) || rec === this.requests[nth - 1];
      const next = await this.conversation.next(`stream_end of message ${msg_id}`, isNext);
      if (this.conversation.all(is("stream_end", { msg_id })).length > 0 && this.requests[nth - 1] === undefined) return;
      const request = this.requests[nth - 1] ?? next;
      this.answer(request, "approve");
    }
  }

  /** Throws unless nothing more than `count` calls were asked for before the message's end. */
  async endsUnasked(msg_id: string, count: number, what: string): Promise<void> {
    const { conversation } = this;
    await conversation.next(`stream_end of message ${msg_id}`, (rec) => is("stream_end", { msg_id })(rec) || rec === this.requests[count]);
    conversation.expect(this.requests.length <= count, what, this.requests[count]);
  }

  /** The records of a call of the message, by its id. */
  story(call_id: unknown): string {
    return this.conversation
      .all((rec) => rec["call_id"] === call_id)
      .map(({ type }) => String(type))
      .join(" ");
  }

  /** Throws unless the message has one whole stream, and all its records are within it. */
  wholeStream(msg_id: string): void {
    const { conversation } = this;
    const own = conversation.all((rec) => rec["msg_id"] === msg_id);
    for (const type of ["stream_start", "stream_end"]) {
      const [first, second] = own.filter(is(type));
      conversation.expect(first !== undefined, `${type} of message ${msg_id}`);
      conversation.expect(second === undefined, `one ${type} of message ${msg_id}, not two`, second);
    }
    const [first, last] = [own[0], own.at(-1)];
    conversation.expect(first?.["type"] === "stream_start", `stream_start as the first line of message ${msg_id}`, first);
    conversation.expect(last?.["type"] === "stream_end", `nothing of message ${msg_id} behind its stream_end`, last);
    for (const name of ["input_tokens", "output_tokens"])
      conversation.expect(typeof at(last, "usage", name) === "number", `the usage of message ${msg_id} with ${name}`, last);
  }

  textOf(msg_id: string): string {
    return this.conversation
      .all(is("text_delta", { msg_id }))
      .map(({ text }) => String(text))
      .join("");
  }

  /** Sends a line that is wrong, and returns the nth error. */
  async refused(line: WireRecord | string, what: string, nth = 1): Promise<WireRecord> {
    this.conversation.say(line);
    const error = await this.conversation.next(`an error for ${what}`, is("error"), nth);
    this.conversation.expect(at(error, "error", "code") === "protocol_error", `protocol_error for ${what}`, error);
    this.conversation.expect((error["msg_id"] ?? null) === null, `no message id in the error for ${what}`, error);
    return error;
  }
}
