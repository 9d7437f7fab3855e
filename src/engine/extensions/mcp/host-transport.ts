/** A server behind the host: each of our messages is a request to the host, and the host's answer is the server's. */
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  parseJSONRPCMessage,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import * as v from "valibot";
import { messageOf } from "../../../core/errors.js";
import type { HostReply, HostRequests } from "../../session/host-requests.js";
import type { Emit } from "../../turn/turn.js";

interface HostLine {
  server: string;
  requests: HostRequests;
  emit: Emit;
  /** How long the host may take for an answer. */
  seconds(): number;
}

const INTERNAL_ERROR = -32603;
const Cancelled = v.object({ requestId: v.union([v.string(), v.number()]) });
const Failure = v.object({ message: v.string() });

export class HostTransport implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #line: HostLine;
  readonly #asked = new Map<string | number, AbortController>();

  constructor(line: HostLine) {
    this.#line = line;
  }

  async start(): Promise<void> {}

  /** The answer is not awaited here: it arrives as a message. */
  send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCRequest(message)) void this.#ask(message.id, message);
    else void this.#tell(message);
    return Promise.resolve();
  }

  close(): Promise<void> {
    for (const abort of this.#asked.values()) abort.abort();
    this.onclose?.();
    return Promise.resolve();
  }

  async #ask(id: string | number, message: JSONRPCMessage): Promise<void> {
    const abort = new AbortController();
    this.#asked.set(id, abort);
    const reply = await this.#request(message, abort.signal);
    this.#asked.delete(id);
    if (!abort.signal.aborted) this.onmessage?.(answer(id, reply));
  }

  /** An answer to a notification is ignored. A cancelled request is settled, so that the host need not answer it. */
  async #tell(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled" && v.is(Cancelled, message.params))
      this.#asked.get(message.params.requestId)?.abort();
    await this.#request(message, new AbortController().signal);
  }

  #request(message: JSONRPCMessage, signal: AbortSignal): Promise<HostReply> {
    const { server, requests, emit, seconds } = this.#line;
    return requests.ask(emit, "mcp", { server, message }, { seconds: seconds(), signal });
  }
}

function answer(id: string | number, { ok, data }: HostReply): JSONRPCMessage {
  if (!ok) return failure(id, v.is(Failure, data) ? data.message : "The host could not pass the message on");
  try {
    const message = parseJSONRPCMessage(data);
    // Fails the request: otherwise its sender would wait for ever.
    return "id" in message && message.id === id ? message : failure(id, "The host's answer is to another request");
  } catch (error) {
    return failure(id, `The host's answer is not a JSON-RPC message: ${messageOf(error)}`);
  }
}

function failure(id: string | number, message: string): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } };
}
