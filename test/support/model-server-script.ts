/** What a wire of the scripted model server must know to refuse, and to say an answer. */
import type { IncomingHttpHeaders } from "node:http";
import type { Frame, Played, Reply, ScriptedError } from "../../src/check/model/script.js";

export type { Frame, Played, Reply, ScriptedError } from "../../src/check/model/script.js";
export { argumentPieces, callId } from "../../src/check/model/script.js";

/** A request as it came. */
export interface Asked {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

export interface WireSpec {
  /** The one path, or the test that it must pass. */
  path: string | ((path: string, body: unknown) => boolean);
  /** What a good answer is; by default an event stream. */
  contentType?: string;
  /** The key in the request; null on a wire that asks for none. */
  keyIn(headers: IncomingHttpHeaders): string | undefined | null;
  /** The key is a token that Google gives out for credentials. */
  asksForToken?: true;
  /** Why the vendor would not let the request in, on a wire that asks for more than a key. */
  denial?(asked: Asked, key: string): ScriptedError | undefined;
  /** Why the vendor would refuse the request. `issued`: the signatures that this server gave out. */
  problem(body: unknown, issued: ReadonlySet<string>, path: string): string | undefined;
  play(reply: Reply, count: number, body: unknown): Played;
  errorFrame(error: { type: string; message: string }): Frame;
  errorBody(error: { status: number; type: string; message: string }): unknown;
  errorHeaders?(error: { type: string; message: string }): Record<string, string>;
}
