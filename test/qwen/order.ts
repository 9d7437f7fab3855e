/** The RFC's rules of order, as a checker: every line that an agent writes is held against what was written before it. */
import type { Heard } from "./heard.js";

interface Call {
  status: "named" | "pending" | "confirming" | "executing" | "ended";
  asked: string | undefined;
}

interface Turn {
  promptId: string;
  calls: Map<string, Call>;
  /** Chunks: what came of each call's arguments, by scope and index. */
  pieces: Map<string, { id: string; args: string }>;
}

const ENDS = new Set(["success", "error", "canceled"]);
/** Lines of a turn; others may stand between them. */
const OF_A_TURN = /^(role|text|delta|call|tool_calls|thought|display:|terminal:(assistant|tool)|summary)/;

export class Order {
  readonly violations: string[] = [];
  readonly #turns = new Map<string, Turn>();
  readonly #requests = new Map<string, { call: string | undefined; answered: boolean }>();
  #isFirst = true;
  #isOver = false;
  #format: unknown;

  /** A control response went out, or a cancel: what it was about may go on. */
  answered(requestId: string): void {
    const request = this.#requests.get(requestId);
    if (request !== undefined) request.answered = true;
  }

  heard(line: Heard): void {
    if (this.#isOver) this.#say(`${line.word} after the last line`);
    if (this.#isFirst && line.word !== "receipt" && line.word !== "fatal") this.#say(`${line.word} before the receipt`);
    if (!this.#isFirst && line.word === "receipt") this.#say("a second receipt");
    this.#isFirst = false;
    if (line.word === "fatal" || line.word === "unsupported") this.#isOver = true;
    if (line.id !== undefined) this.#spoken(line);
    if (line.word.startsWith("control_request")) this.#control(line);
  }

  /** Once the agent has left in order. */
  end(): void {
    for (const [session, { promptId }] of this.#turns) this.#say(`the turn ${promptId} of ${session} never ended`);
  }

  #spoken(line: Heard): void {
    const { session_id = "", prompt_id } = line.metadata;
    this.#format ??= line.raw["object"];
    if (line.raw["object"] !== this.#format) this.#say(`a ${String(line.raw["object"])} among lines of the other format`);
    if (line.id !== `chatcmpl-${session_id}`) this.#say(`the id ${line.id} in session ${session_id}`);
    if (!Number.isInteger(line.created)) this.#say(`created ${line.created}`);
    if (!OF_A_TURN.test(line.word)) return;
    if (prompt_id === undefined) return this.#say(`${line.word} of no prompt`);
    const live = this.#turns.get(session_id);
    if (live !== undefined && live.promptId !== prompt_id) this.#say(`${line.word} of ${prompt_id} inside ${live.promptId}`);
    const turn = live ?? { promptId: prompt_id, calls: new Map(), pieces: new Map() };
    this.#turns.set(session_id, turn);
    this.#inTurn(line, turn);
    if (line.word === "summary") this.#ended(line, turn, session_id);
  }

  #inTurn(line: Heard, turn: Turn): void {
    const scope = line.metadata.parent_tool_call_id ?? "";
    if (scope !== "" && !turn.calls.has(scope)) this.#say(`${line.word} under ${scope}, which nobody called`);
    for (const { index, id, function: called } of line.calls) {
      if (line.word === "call") this.#piece(turn, `${scope} ${index}`, id, called?.name, called?.arguments ?? "");
      else this.#named(turn, id ?? "", called?.arguments ?? "");
    }
    if (line.word === "tool_calls" && line.calls.length === 0) this.#closePieces(turn, scope);
    for (const { tool_call_id, status } of line.displays) this.#display(turn, tool_call_id, status);
  }

  #named(turn: Turn, id: string, args: string): void {
    if (turn.calls.has(id)) this.#say(`the call ${id} twice`);
    turn.calls.set(id, { status: "named", asked: undefined });
    if (!isJson(args)) this.#say(`the arguments of ${id}: ${args}`);
  }

  #piece(turn: Turn, key: string, id: string | undefined, name: string | undefined, args: string): void {
    const known = turn.pieces.get(key);
    if ((known === undefined) !== (id !== undefined) || (known === undefined) !== (name !== undefined))
      this.#say(`a piece of call ${key} with the id ${id} and the name ${name}`);
    turn.pieces.set(key, { id: known?.id ?? id ?? "", args: (known?.args ?? "") + args });
  }

  #closePieces(turn: Turn, scope: string): void {
    for (const [key, { id, args }] of turn.pieces) {
      if (!key.startsWith(`${scope} `)) continue;
      turn.pieces.delete(key);
      this.#named(turn, id, args);
    }
  }

  #display(turn: Turn, id: string, status: string): void {
    const call = turn.calls.get(id);
    if (call === undefined) return this.#say(`a display of ${id}, which nobody called`);
    const { status: before, asked } = call;
    if (before === "ended") this.#say(`${status} of ${id}, which has ended`);
    if ((status === "pending" || status === "confirming") && before !== "named") this.#say(`${status} of ${id}, which is ${before}`);
    if (status === "executing") {
      if (before === "named") this.#say(`${id} runs before it was shown`);
      if (asked !== undefined && this.#requests.get(asked)?.answered === false) this.#say(`${id} runs before it was allowed`);
    }
    call.status = ENDS.has(status) ? "ended" : status === "pending" || status === "confirming" ? status : "executing";
  }

  #control(line: Heard): void {
    const id = String(line.raw["request_id"]);
    if (this.#requests.has(id)) this.#say(`the request ${id} twice`);
    const call = line.raw["tool_call_id"];
    this.#requests.set(id, { call: typeof call === "string" ? call : undefined, answered: false });
    if (line.word !== "control_request:can_use_tool") return;
    const turn = this.#turns.get(String(line.raw["session_id"]));
    const known = turn?.calls.get(String(call));
    if (known?.status !== "confirming") this.#say(`${id} asks for ${String(call)}, which is ${known?.status ?? "unknown"}`);
    if (known !== undefined) known.asked = id;
  }

  #ended({ content, finish }: Heard, turn: Turn, session: string): void {
    if (content !== undefined && content !== "") this.#say(`a summary that says ${content}`);
    if (finish !== "stop") this.#say(`a summary with the finish ${finish}`);
    for (const [id, { status }] of turn.calls) if (status !== "ended") this.#say(`the summary while ${id} is ${status}`);
    this.#turns.delete(session);
  }

  #say(what: string): void {
    this.violations.push(what);
  }
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
