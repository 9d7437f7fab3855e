/** The wire's own rules of order, as a checker: every line that an agent writes is held against what was said before it. */
import type { Line, LineOf } from "./host.js";

export class Order {
  readonly violations: string[] = [];
  /** Between `system/init` and `result`. */
  #inTurn = false;
  readonly #calls = new Map<string, "said" | "ended">();
  /** Requests of ours that wait for an answer. */
  readonly #asked = new Set<string>();
  /** The block whose pieces come, and whether a model call is being told. */
  #block: number | undefined;
  #message: "open" | undefined;
  #results = 0;

  request(id: string): void {
    this.#asked.add(id);
  }

  line(line: Line): void {
    switch (line.type) {
      case "system":
        return this.#system(line);
      case "assistant":
        return this.#assistant(line);
      case "user":
        return this.#user(line);
      case "stream_event":
        return this.#piece(line);
      case "result":
        return this.#result(line);
      case "control_response":
        if (!this.#asked.delete(line.response.request_id)) this.#say(`an answer to ${line.response.request_id}, which nobody asked`);
        return;
      case "control_request":
        return;
      default:
        line satisfies never;
    }
  }

  get results(): number {
    return this.#results;
  }

  #system(line: LineOf<"system">): void {
    if (line.subtype !== "init") return;
    if (this.#inTurn) this.#say("init within a turn");
    if (line.uuid !== line.session_id) this.#say("the uuid of init is not the session's id");
    this.#inTurn = true;
    this.#calls.clear();
  }

  #assistant({ uuid, message }: LineOf<"assistant">): void {
    if (!this.#inTurn) this.#say("an assistant message outside a turn");
    if (uuid !== message.id) this.#say("the uuid of a message is not its id");
    const kinds = new Set(message.content.map(({ type }) => type));
    if (kinds.size !== 1) this.#say(`a message of ${[...kinds].join(" and ") || "nothing"}`);
    if (this.#block !== undefined) this.#say("a message before its block was closed");
    for (const block of message.content) if (block.type === "tool_use") this.#calls.set(block.id, "said");
    const stop = kinds.has("tool_use") ? "tool_use" : null;
    if (message.stop_reason !== stop) this.#say(`stop_reason ${String(message.stop_reason)} of a ${[...kinds].join()} message`);
  }

  #user({ message }: LineOf<"user">): void {
    if (!this.#inTurn) this.#say("a user line outside a turn");
    for (const block of typeof message.content === "string" ? [] : message.content) {
      if (block.type !== "tool_result") continue;
      if (typeof block.content !== "string") this.#say("the content of a tool_result is no text");
      if (this.#calls.get(block.tool_use_id) !== "said") this.#say(`a result of ${block.tool_use_id}, which is not open`);
      this.#calls.set(block.tool_use_id, "ended");
    }
  }

  #piece({ event, parent_tool_use_id }: LineOf<"stream_event">): void {
    if (!this.#inTurn) this.#say(`${event.type} outside a turn`);
    if (parent_tool_use_id !== null) return;
    switch (event.type) {
      case "message_start":
        if (this.#message === "open") this.#say("message_start twice");
        this.#message = "open";
        return;
      case "message_stop":
        if (this.#message !== "open" || this.#block !== undefined) this.#say("message_stop out of order");
        this.#message = undefined;
        return;
      case "content_block_start":
        if (this.#message !== "open" || this.#block !== undefined) this.#say("content_block_start out of order");
        this.#block = event.index;
        return;
      case "content_block_delta":
        if (this.#block !== event.index) this.#say("content_block_delta out of order");
        return;
      case "content_block_stop":
        if (this.#block !== event.index) this.#say("content_block_stop out of order");
        this.#block = undefined;
        return;
      default:
    }
  }

  #result(line: LineOf<"result">): void {
    this.#results++;
    const open = [...this.#calls].filter(([, now]) => now === "said").map(([id]) => id);
    if (open.length > 0) this.#say(`a result while calls are open: ${open.join(", ")}`);
    if (this.#message !== undefined || this.#block !== undefined) this.#say("a result within a message");
    if (line.is_error !== (line.subtype !== "success")) this.#say(`is_error ${line.is_error} of ${line.subtype}`);
    this.#inTurn = false;
    this.#calls.clear();
  }

  #say(what: string): void {
    this.violations.push(what);
  }
}
