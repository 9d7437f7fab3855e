/** The other side of the webhook: sends signed messages, and receives signed callbacks. */
import { createServer, type IncomingMessage } from "node:http";
import * as v from "valibot";
import { expect, onTestFinished } from "vitest";
import { signatureOf } from "../../src/bridge/platforms/signature.js";
import { until } from "../support/processes.js";
import { SECRET } from "./harness.js";

const Callback = v.strictObject({
  id: v.string(),
  chat: v.string(),
  text: v.string(),
  kind: v.picklist(["partial", "reply", "notice", "end"]),
  repeated: v.boolean(),
  inReplyTo: v.optional(v.string()),
});
type Callback = v.InferOutput<typeof Callback>;

export interface Receiver {
  url: string;
  /** Everything that came, doubles included, without the ends of turns. */
  got: Callback[];
  /** The messages whose turns are over. */
  ended: Set<string>;
  /** Each message once. */
  texts(chat?: string): string[];
  /** What to answer; 200 unless told otherwise. A promise holds the request. */
  answer: (callback: Callback, count: number) => Answer | Promise<Answer>;
  sees(text: string, chat?: string): Promise<Callback>;
}

type Answer = number | { status: number; headers: Record<string, string> } | "hang up";

export async function receiver(): Promise<Receiver> {
  const got: Callback[] = [];
  const ended = new Set<string>();
  const texts = (chat?: string): string[] => {
    const once = new Map(
      got.filter((callback) => chat === undefined || callback.chat === chat).map((callback) => [callback.id, callback.text]),
    );
    return [...once.values()];
  };
  const result: Receiver = {
    url: "",
    got,
    ended,
    texts,
    answer: () => 200,
    async sees(text, chat) {
      const find = () => got.find((callback) => callback.text.includes(text) && (chat === undefined || callback.chat === chat));
      await until(
        () => find() !== undefined,
        () => `a callback with '${text}' among ${JSON.stringify(got)}`,
      );
      return find() ?? expect.fail();
    },
  };
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request);
      const { "x-parley-timestamp": timestamp, "x-parley-signature": signature, "idempotency-key": key } = request.headers;
      expect(signature).toBe(signatureOf(SECRET, String(timestamp), body));
      const callback = v.parse(Callback, JSON.parse(body));
      expect(key).toBe(callback.id);
      if (callback.kind === "end") {
        ended.add(callback.inReplyTo ?? "");
        return response.end();
      }
      got.push(callback);
      const answer = await result.answer(callback, got.length);
      if (answer === "hang up") return request.socket.destroy();
      const { status, headers } = typeof answer === "number" ? { status: answer, headers: {} } : answer;
      return response.writeHead(status, headers).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  result.url = `http://127.0.0.1:${address.port}/callback`;
  return result;
}

const Body = v.looseObject({ id: v.optional(v.string()), duplicate: v.optional(v.boolean()), why: v.optional(v.string()) });

export interface Posted {
  status: number;
  body: v.InferOutput<typeof Body>;
  headers: Headers;
}

/** Signed now and rightly, unless told otherwise. */
export async function post(url: string, message: unknown, forged: { secret?: string; at?: number; body?: string } = {}): Promise<Posted> {
  const body = forged.body ?? JSON.stringify(message);
  const timestamp = String(forged.at ?? Math.floor(Date.now() / 1000));
  const response = await fetch(url, {
    method: "POST",
    headers: { "x-parley-timestamp": timestamp, "x-parley-signature": signatureOf(forged.secret ?? SECRET, timestamp, body) },
    body,
  });
  return { status: response.status, body: v.parse(Body, await response.json()), headers: response.headers };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
