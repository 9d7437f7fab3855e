/** Ante's own rules of order, as a checker: every record that a daemon writes is held against what was written before it. */
import * as v from "valibot";
import { EventMsg } from "../../src/dialects/ante/wire/records.js";

export type Msg = v.InferOutput<typeof EventMsg>;

interface Turn {
  id: string;
  parent: string | null | undefined;
  block: { kind: "Message" | "Thinking"; text: string } | undefined;
  calls: Map<string, { state: "started" | "paused" | "answered" | "ended"; seq: number }>;
}

const ID = /^[a-z]{0,4}_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;
/** The order of an envelope's fields on the real wire. */
const FIELDS = "timestamp,id,event,parent";

export class Order {
  readonly violations: string[] = [];
  readonly #ids = new Set<string>();
  readonly #ops = new Set<string>();
  #session: { id: string; refreshed: number } | undefined;
  #turn: Turn | undefined;
  #last = "";
  #isOver = false;

  /** An operation went out. */
  sent(record: unknown): void {
    const { id, op } = v.parse(v.looseObject({ id: v.optional(v.unknown()), op: v.optional(v.unknown()) }), record);
    if (typeof id === "string") this.#ops.add(id);
    const answer = v.safeParse(v.object({ ApprovalResponse: v.object({ responses: v.array(v.array(v.string())) }) }), op);
    if (!answer.success) return;
    for (const [call = "", decision] of answer.output.ApprovalResponse.responses) {
      const known = this.#turn?.calls.get(call);
      if (known?.state === "paused" && decision !== "Abort") known.state = "answered";
    }
  }

  /** `isReplay`: it was heard in an earlier run. */
  event(msg: Msg, isReplay: boolean): void {
    if (this.#isOver) this.#say("something after Goodbye");
    if (Object.keys(msg).join() !== FIELDS) this.#say(`an envelope of ${Object.keys(msg).join()}`);
    if (!ID.test(msg.id) || !msg.id.startsWith("evt_")) this.#say(`the id ${msg.id}`);
    if (!TIME.test(msg.timestamp)) this.#say(`the time ${msg.timestamp}`);
    if (msg.parent != null && !ID.test(msg.parent)) this.#say(`the parent ${msg.parent}`);
    if (isReplay) return;
    if (this.#ids.has(msg.id)) this.#say(`the id ${msg.id} twice`);
    this.#ids.add(msg.id);
    if (msg.timestamp < this.#last) this.#say(`${msg.timestamp} after ${this.#last}`);
    this.#last = msg.timestamp;
    if (typeof msg.event === "string") return this.#plain(msg.event);
    this.#tagged(msg, msg.event);
  }

  /** Once the daemon has left in order. */
  end(): void {
    if (!this.#isOver) this.#say("no Goodbye");
  }

  #plain(event: string): void {
    if (event === "Goodbye") {
      if (this.#session !== undefined) this.#say("Goodbye before SessionEnd");
      this.#isOver = true;
    }
    if (event !== "SessionEnd") return;
    if (this.#session === undefined) this.#say("SessionEnd without a session");
    else if (this.#session.refreshed === 0) this.#say("SessionEnd before ExtensionRefreshed");
    if (this.#turn !== undefined) this.#say("SessionEnd inside a turn");
    this.#session = undefined;
  }

  #tagged(msg: Msg, event: Exclude<Msg["event"], string>): void {
    if ("SessionStart" in event) {
      if (this.#session !== undefined) this.#say("SessionStart inside a session");
      this.#session = { id: event.SessionStart.session_id, refreshed: 0 };
      if (!ID.test(event.SessionStart.session_id)) this.#say(`the session ${event.SessionStart.session_id}`);
      return;
    }
    if ("Error" in event || "Info" in event) return;
    if (this.#session === undefined) return this.#say(`${Object.keys(event).join()} without a session`);
    if ("ExtensionRefreshed" in event) {
      if (this.#session.refreshed++ === 0 && (event.ExtensionRefreshed.mcp_servers ?? []).length > 0)
        this.#say("servers in the first list");
      if (event.ExtensionRefreshed.session_id !== this.#session.id) this.#say("a list of another session");
      return;
    }
    if (this.#session.refreshed === 0) this.#say(`${Object.keys(event).join()} before ExtensionRefreshed`);
    if ("UserInput" in event) this.#say("UserInput outside of a replay");
    this.#inTurn(msg, event);
  }

  #inTurn(msg: Msg, event: Exclude<Msg["event"], string>): void {
    if ("TurnStart" in event) {
      if (this.#turn !== undefined) this.#say("TurnStart inside a turn");
      if (!event.TurnStart.turn_id.startsWith("step_") || !ID.test(event.TurnStart.turn_id)) this.#say(event.TurnStart.turn_id);
      this.#turn = { id: event.TurnStart.turn_id, parent: msg.parent, block: undefined, calls: new Map() };
      return;
    }
    const name = Object.keys(event).join();
    const turn = this.#turn;
    if (turn === undefined) {
      if (/^(Turn|Agent|Thinking|Message|Tool|Usage)/.test(name)) this.#say(`${name} outside of a turn`);
      return;
    }
    if (/^(Turn|Agent|Thinking|Message|Tool|Usage)/.test(name) && msg.parent !== turn.parent)
      this.#say(`${name} with the parent ${msg.parent}, not ${turn.parent}`);
    if ("MessageDelta" in event) return this.#delta(turn, "Message", event.MessageDelta);
    if ("ThinkingDelta" in event) return this.#delta(turn, "Thinking", event.ThinkingDelta);
    if ("AgentMessage" in event) return this.#whole(turn, "Message", event.AgentMessage);
    if ("Thinking" in event) return this.#whole(turn, "Thinking", event.Thinking);
    if (turn.block !== undefined && /^(Tool|Turn|Usage)/.test(name) && !("ToolUpdate" in event)) this.#say(`${name} inside an open block`);
    if ("TurnEnd" in event) {
      if (event.TurnEnd.turn_id !== turn.id) this.#say("the end of another turn");
      for (const [call, { state }] of turn.calls) if (state !== "ended") this.#say(`TurnEnd while ${call} is ${state}`);
      this.#turn = undefined;
    }
    this.#call(turn, event);
  }

  #call(turn: Turn, event: Exclude<Msg["event"], string>): void {
    if ("ToolStart" in event) {
      if (turn.calls.has(event.ToolStart.id)) this.#say(`ToolStart of ${event.ToolStart.id} twice`);
      if (JSON.stringify(event.ToolStart.input) !== JSON.stringify(event.ToolStart.args)) this.#say("input and args differ");
      turn.calls.set(event.ToolStart.id, { state: "started", seq: 0 });
    }
    if ("TurnPause" in event) {
      if (event.TurnPause.turn_id !== turn.id) this.#say("a pause of another turn");
      for (const { id } of event.TurnPause.reason.Approval.tools) {
        const call = turn.calls.get(id);
        if (call?.state !== "started") this.#say(`TurnPause for ${id}, which is ${call?.state ?? "unheard of"}`);
        else call.state = "paused";
      }
    }
    if ("ToolUpdate" in event) {
      const { tool_use_id, seq } = event.ToolUpdate;
      const call = turn.calls.get(tool_use_id);
      if (call === undefined || call.state === "ended" || call.state === "paused")
        this.#say(`ToolUpdate of ${tool_use_id}, which is ${call?.state ?? "unheard of"}`);
      else if (seq !== call.seq++) this.#say(`ToolUpdate ${seq} of ${tool_use_id}, not ${call.seq - 1}`);
    }
    if ("ToolEnd" in event) {
      const { tool_use_id, status, is_error } = event.ToolEnd;
      const call = turn.calls.get(tool_use_id);
      if (call === undefined || call.state === "ended") this.#say(`ToolEnd of ${tool_use_id}, which is ${call?.state ?? "unheard of"}`);
      else if (call.state === "paused" && status !== "Cancelled" && status !== "Denied") this.#say(`${tool_use_id} ran without an answer`);
      if (is_error !== (status !== "Completed")) this.#say(`is_error of ${status}`);
      if (call !== undefined) call.state = "ended";
    }
  }

  #delta(turn: Turn, kind: "Message" | "Thinking", text: string): void {
    if (text === "") this.#say("an empty delta");
    if (turn.block !== undefined && turn.block.kind !== kind) this.#say(`a ${kind} delta inside a block of another kind`);
    turn.block ??= { kind, text: "" };
    turn.block.text += text;
  }

  #whole(turn: Turn, kind: "Message" | "Thinking", text: string): void {
    if (turn.block !== undefined && (turn.block.kind !== kind || turn.block.text !== text))
      this.#say(`a whole ${kind} that is not its deltas`);
    turn.block = undefined;
  }

  #say(what: string): void {
    this.violations.push(what);
  }
}
