/** Writes the texts of a turn, in either form. Several blocks are one message, separated by blank lines. */
import type { Call, EventOf, Usage } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { writeUsage } from "../wire/usage.js";
import { ERROR, PARTIAL, REQUEST, RESPONSE, SESSION, type AgentRecord } from "../wire/records.js";

type Words = EventOf<"text.delta" | "text.done" | "thinking.delta" | "thinking.done">;

export interface Speech {
  session(id: string): Out[];
  words(event: Words): Out[];
  request(call: Call, message: string | undefined): Out[];
  result(usage: Usage | undefined): Out[];
  error(message: string, usage: Usage | undefined): Out[];
  interrupted(): Out[];
}

const UNKNOWN_ERROR = "The agent failed";

// --- 0.1 and 0.2 ---

/** An id that the line cannot carry is left out: the host then begins a new session. */
const LINE_ID = /^[^\s:]+$/;

export function lineSpeech({ streaming = true }: { streaming?: boolean }): Speech {
  const reply = new Reply();
  let named = "";
  return {
    session(id) {
      if (id === named || !LINE_ID.test(id)) return [];
      named = id;
      return [line(`${SESSION}${id}`)];
    },
    words(event) {
      const piece = reply.piece(event, streaming);
      return piece === "" || !streaming ? [] : [line(`${PARTIAL}${JSON.stringify(piece)}`)];
    },
    request: ({ id, name, args, title }, message) => [
      line(`${REQUEST}${JSON.stringify({ request_id: id, tool_name: name, input: args ?? {}, ...described(title, message) })}`),
    ],
    result: () => (streaming || reply.text === "" ? [] : [line(escaped(reply.text))]),
    error: (message) => [line(`${ERROR}${JSON.stringify(message || UNKNOWN_ERROR)}`)],
    interrupted: () => [],
  };
}

const RESERVED = new RegExp(`(^|\\n)(?=${[SESSION, PARTIAL, ERROR, REQUEST, RESPONSE].join("|")})`, "g");

/** Lines of the reply that look like the protocol's get a leading space. */
export function escaped(body: string): string {
  return body.replace(RESERVED, "$1 ");
}

// --- 0.3 and 0.4 ---

export function recordSpeech({ version }: { version: string }): Speech {
  const reply = new Reply();
  const isOld = version === "0.3";
  let named: string | undefined;
  return {
    session(id) {
      if (id === named || id === "." || id === ".." || /[/\\\p{Cc}]/u.test(id)) return [];
      named = id;
      return isOld ? [record({ type: "session", id })] : [];
    },
    words(event) {
      if (event.type === "thinking.delta" || (event.type === "thinking.done" && event.streamed !== true))
        return event.text === "" ? [] : [record({ type: "partial", text: event.text, role: "thinking", ...own() })];
      // Hosts of wire 0.3 add `text` to the partials, and it is unknown whether they show these.
      if (isOld) return pieces(reply.piece(event, false), (text) => ({ type: "text", text }));
      return pieces(reply.piece(event, true), (text) => ({ type: "partial", text, ...own() }));
    },
    request: ({ id, name, args, title }, message) => [
      record({ type: "permission_request", request_id: id, tool_name: name, input: args ?? {}, ...described(title, message), ...own() }),
    ],
    result: (usage) => (isOld ? [] : [record({ type: "result", text: reply.text, ...own(), ...used(usage) })]),
    error: (message, usage) => [record({ type: "error", message: message || UNKNOWN_ERROR, ...own(), ...(!isOld && used(usage)) })],
    interrupted: () => [],
  };

  function own(): { session_id?: string } {
    return isOld || named === undefined ? {} : { session_id: named };
  }
}

function pieces(text: string, said: (text: string) => AgentRecord): Out[] {
  return text === "" ? [] : [record(said(text))];
}

function used(usage: Usage | undefined): { usage?: ReturnType<typeof writeUsage> } {
  return usage === undefined ? {} : { usage: writeUsage(usage) };
}

// --- both ---

/** The text of a turn so far. */
class Reply {
  text = "";
  /** A block is open. */
  #open = false;

  /** The new text of an event: a delta, or a whole block. */
  piece(event: Words, streamed: boolean): string {
    if (event.type !== "text.delta" && event.type !== "text.done") return "";
    const isEnd = event.type === "text.done";
    const counts = isEnd ? !streamed || event.streamed !== true : streamed;
    const isApart = this.#open || this.text === "" || this.text.endsWith("\n\n") || event.text.startsWith("\n\n");
    const piece = counts && event.text !== "" ? `${isApart ? "" : "\n\n"}${event.text}` : "";
    this.#open = !isEnd && (this.#open || piece !== "");
    this.text += piece;
    return piece;
  }
}

function described(title: string | undefined, message: string | undefined): { description?: string } {
  const description = message ?? title;
  return description === undefined ? {} : { description };
}

function line(text: string): Out {
  return { rec: text };
}

function record(rec: AgentRecord): Out {
  return { rec };
}
