/** The document's own rules of order, as a checker: every line that an agent writes is held against what was said before it. */
import type { Command } from "../../src/dialects/aionrs/wire/records.js";
import type { WireEvent, WireEventOf } from "../../src/dialects/wayland/wire.js";

type Call = "asked" | "approved" | "announced" | "running" | "over";

/** The fields that the document gives to each event; `?` marks those that may be missing. */
const FIELDS: Record<WireEvent["type"], string> = {
  ready: "type version session_id? capabilities",
  stream_start: "type msg_id",
  text_delta: "type text msg_id",
  thinking: "type text msg_id",
  tool_request: "type msg_id call_id tool",
  tool_running: "type msg_id call_id tool_name",
  tool_result: "type msg_id call_id tool_name status output output_type metadata?",
  tool_cancelled: "type msg_id call_id reason",
  stream_end: "type msg_id usage",
  config_changed: "type capabilities",
  mcp_ready: "type name tools",
  mcp_failed: "type name reason",
  pong: "type",
  call_announced: "type msg_id call_id tool critical",
  tool_chunk: "type msg_id call_id tool_name chunk",
  sub_agent_event: "type parent_call_id agent_name inner",
  error: "type msg_id error",
  info: "type msg_id message",
};

const LATER = "tool_approval thinking effort effort_levels modes current_mode mcp";

/** What a later document changes in that. */
const CHANGED: Record<string, Partial<Record<WireEvent["type"], { fields?: string; inner?: [string, string] }>>> = {
  aionrs: {},
  "aionrs@0.2": {
    ready: { inner: ["capabilities", `${LATER} image_input`] },
    config_changed: { inner: ["capabilities", `${LATER} image_input`] },
  },
  wayland: {
    ready: { inner: ["capabilities", `${LATER} streaming_tools? sub_agent_traces?`] },
    config_changed: { inner: ["capabilities", `${LATER} streaming_tools? sub_agent_traces?`] },
    stream_end: { fields: "type msg_id finish_reason usage" },
  },
};

const INNER: Partial<Record<WireEvent["type"], [string, string]>> = {
  ready: ["capabilities", "tool_approval thinking mcp"],
  tool_request: ["tool", "name category args description"],
  stream_end: ["usage", "input_tokens output_tokens cache_read_tokens cache_write_tokens"],
  error: ["error", "code message retryable"],
};

const CODES = ["provider_error", "tool_error", "config_error", "protocol_error", "internal_error"];

export class Order {
  readonly violations: string[] = [];
  #ready = false;
  #message: string | undefined;
  readonly #calls = new Map<string, Call>();
  readonly #wire: string;
  /** Messages that may be answered without a stream. */
  readonly #slashes = new Set<string>();

  constructor(wire: string) {
    this.#wire = wire;
  }

  command(command: Command): void {
    if (command.type === "message" && command.content?.startsWith("/") === true) this.#slashes.add(command.msg_id);
    if (command.type === "tool_approve" && this.#calls.get(command.call_id) === "asked") this.#calls.set(command.call_id, "approved");
  }

  event(event: WireEvent): void {
    this.#fields(event);
    if (!this.#ready && event.type !== "ready" && event.type !== "error") this.#say(`${event.type} before ready`);
    switch (event.type) {
      case "config_changed":
      case "mcp_ready":
      case "mcp_failed":
      case "pong":
        return;
      case "sub_agent_event":
        if (this.#calls.get(event.parent_call_id) !== "running") this.#say(`a trace under ${event.parent_call_id}, which does not run`);
        return;
      case "ready":
        if (this.#ready) this.#say("ready twice");
        this.#ready = true;
        return;
      case "error":
        if (!CODES.includes(event.error.code)) this.#say(`the error code ${event.error.code}`);
        if (event.msg_id !== null) this.#within(event);
        return;
      case "info":
        if (event.msg_id !== "") this.#within(event);
        return;
      case "stream_start":
        if (!this.#ready) this.#say("a stream before ready");
        if (this.#message !== undefined) this.#say(`stream_start of ${event.msg_id} inside ${this.#message}`);
        this.#message = event.msg_id;
        return;
      case "stream_end":
        if (this.#message === undefined && this.#slashes.delete(event.msg_id)) return;
        this.#within(event);
        for (const [call, state] of this.#calls) if (state !== "over") this.#say(`stream_end while ${call} is ${state}`);
        this.#message = undefined;
        this.#calls.clear();
        return;
      case "text_delta":
      case "thinking":
        if (event.text === "") this.#say(`an empty ${event.type}`);
        return this.#within(event);
      default:
        this.#within(event);
        return this.#call(event);
    }
  }

  /** Once the agent has left. */
  end(): void {
    if (this.#message !== undefined) this.#say(`no stream_end of ${this.#message}`);
  }

  #within({ type, msg_id }: { type: string; msg_id?: string | null | undefined }): void {
    if (msg_id !== this.#message) this.#say(`${type} of ${String(msg_id)} while ${this.#message ?? "nothing"} streams`);
  }

  #call(event: WireEventOf<"tool_request" | "call_announced" | "tool_running" | "tool_chunk" | "tool_result" | "tool_cancelled">): void {
    const id = event.call_id;
    const state = this.#calls.get(id);
    // Wayland's host takes no word of a call that was not announced.
    const unheard = this.#wire === "wayland" ? [] : [undefined];
    const allowed: Record<typeof event.type, (Call | undefined)[]> = {
      tool_request: [undefined],
      call_announced: [undefined],
      tool_running: [...unheard, "announced", "approved"],
      tool_chunk: ["running"],
      tool_result: ["running"],
      tool_cancelled: [...unheard, "announced", "asked", "approved", "running"],
    };
    if (!allowed[event.type].includes(state)) this.#say(`${event.type} of ${id}, which is ${state ?? "unheard of"}`);
    const next: Record<typeof event.type, Call> = {
      tool_request: "asked",
      call_announced: "announced",
      tool_chunk: "running",
      tool_running: "running",
      tool_result: "over",
      tool_cancelled: "over",
    };
    this.#calls.set(id, next[event.type]);
  }

  #fields(event: WireEvent): void {
    const changed = CHANGED[this.#wire]?.[event.type];
    this.#exactly(event.type, event, changed?.fields ?? FIELDS[event.type]);
    const [name, fields] = changed?.inner ?? INNER[event.type] ?? [];
    const inner: unknown = Object.entries(event).find(([key]) => key === name)?.[1];
    if (fields !== undefined && typeof inner === "object" && inner !== null) this.#exactly(`${event.type}.${name ?? ""}`, inner, fields);
  }

  #exactly(what: string, value: object, fields: string): void {
    const all = fields.split(" ");
    const known = new Set(all.map((field) => field.replace("?", "")));
    for (const key of Object.keys(value)) if (!known.has(key)) this.#say(`${what} has a field ${key}`);
    for (const field of all) if (!field.endsWith("?") && !(field in value)) this.#say(`${what} has no ${field}`);
  }

  #say(what: string): void {
    this.violations.push(what);
  }
}
