/** Telegram's bot API on loopback, scripted: updates go out until their offset is confirmed, and every call is kept. */
import { createServer, type IncomingMessage } from "node:http";
import * as v from "valibot";
import { onTestFinished } from "vitest";
import { until } from "../support/processes.js";

export const TOKEN = "123456:TEST-token_of-the-bot";

interface Call {
  method: string;
  params: Record<string, unknown>;
}

interface Reply {
  status: number;
  body: Record<string, unknown> | string;
}

export interface TelegramServer {
  url: string;
  calls: Call[];
  /** The chat as a person sees it: edits in place. */
  messages(chat: number): string[];
  /** What somebody says to the bot; the update's id. */
  say(text: string, more?: Record<string, unknown>): number;
  /** Updates that were confirmed. */
  confirmed(): number;
  /** Instead of the usual answer; undefined for that. */
  script: (call: Call) => Reply | "hang up" | undefined;
  sees(text: string): Promise<void>;
  files: Map<string, string>;
  /** Whether files begin to come and never end. */
  holdsFiles: boolean;
}

const Params = v.record(v.string(), v.unknown());

export async function telegramServer(): Promise<TelegramServer> {
  const calls: Call[] = [];
  const updates: { update_id: number; message: Record<string, unknown> }[] = [];
  const chats = new Map<number, Map<number, string>>();
  let nextId = 100;
  let confirmed = 0;
  let wake: (() => void)[] = [];

  const here: TelegramServer = {
    url: "",
    calls,
    files: new Map(),
    holdsFiles: false,
    messages: (chat) => [...(chats.get(chat)?.values() ?? [])],
    say(text, more = {}) {
      const update_id = nextId++;
      updates.push({ update_id, message: { message_id: update_id, from: { id: 7, is_bot: false }, chat: { id: 7 }, text, ...more } });
      for (const resolve of wake.splice(0)) resolve();
      return update_id;
    },
    confirmed: () => confirmed,
    script: () => undefined,
    sees: (text) =>
      until(
        () => [...chats.values()].some((chat) => [...chat.values()].some((said) => said.includes(text))),
        () => `'${text}' among ${JSON.stringify([...chats].map(([id, chat]) => [id, [...chat.values()]]))}`,
      ),
  };

  async function answer(call: Call, request: IncomingMessage): Promise<Reply | "hang up"> {
    const scripted = here.script(call);
    if (scripted !== undefined) return scripted;
    const { method, params } = call;
    switch (method) {
      case "getMe":
        return ok({ id: 1, is_bot: true, username: "our_bot" });
      case "getUpdates":
        return ok(await poll(params, request));
      case "sendMessage":
        return ok({ message_id: said(Number(params["chat_id"]), nextId++, String(params["text"])) });
      case "editMessageText":
        return ok({ message_id: said(Number(params["chat_id"]), Number(params["message_id"]), String(params["text"])) });
      case "getFile":
        return ok({ file_id: params["file_id"], file_path: `documents/${String(params["file_id"])}` });
      default:
        return ok(true);
    }
  }

  function said(chat: number, id: number, text: string): number {
    const messages = chats.get(chat) ?? new Map<number, string>();
    chats.set(chat, messages);
    messages.set(id, text);
    return id;
  }

  async function poll({ offset }: Record<string, unknown>, request: IncomingMessage): Promise<unknown[]> {
    const from = typeof offset === "number" ? offset : 0;
    while (updates.length > 0 && (updates[0]?.update_id ?? 0) < from) {
      updates.shift();
      confirmed++;
    }
    if (updates.length > 0) return [...updates];
    await new Promise<void>((resolve) => {
      wake.push(resolve);
      request.socket.once("close", resolve);
    });
    return [...updates];
  }

  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(Buffer.from(chunk));
      const [, token, path = ""] = /^\/(?:file\/)?bot([^/]+)\/(.+)$/.exec(request.url ?? "") ?? [];
      if (request.url?.startsWith("/file/") === true && here.holdsFiles) return response.write("a");
      if (request.url?.startsWith("/file/") === true) return response.end(here.files.get(path.replace("documents/", "")) ?? "");
      const body = Buffer.concat(chunks).toString();
      const call: Call = { method: path, params: v.parse(Params, body === "" ? {} : JSON.parse(body)) };
      calls.push(call);
      const reply = token === TOKEN ? await answer(call, request) : failed(401, "Unauthorized");
      if (reply === "hang up") return request.socket.destroy();
      return response
        .writeHead(reply.status, { "content-type": "application/json" })
        .end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const resolve of wake.splice(0)) resolve();
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  here.url = `http://127.0.0.1:${address.port}`;
  return here;
}

export function failed(code: number, description: string, parameters?: Record<string, unknown>): Reply {
  return { status: code, body: { ok: false, error_code: code, description, ...(parameters !== undefined && { parameters }) } };
}

function ok(result: unknown): Reply {
  return { status: 200, body: { ok: true, result } };
}
