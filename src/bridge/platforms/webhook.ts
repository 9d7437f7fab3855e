/**
 * A signed HTTP webhook: messages come as POST requests, answers go as POST requests to one address of the configuration. A message is on
 * disk before its request gets 200.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import * as v from "valibot";
import { messageOf, ParleyError } from "../../core/errors.js";
import { callBack, isCallbackUrl } from "./webhook-callback.js";
import { kindOf, type PlatformContext } from "./kind.js";
import type { Inbox, Incoming, Platform, Verdict } from "./platform.js";
import { SIGNATURE_HEADER, signatureProblem, TIMESTAMP_HEADER } from "./signature.js";

const BODY_CAP = 1024 * 1024;
const SHORTEST_SECRET = 16;
/** The time for a request to arrive, and the interval of checking it. */
const REQUEST_MS = 30_000;
const LOOK_MS = 5000;
/** The most connections: each may hold an unverified body, and a file handle that the journal may need. */
const MOST_CONNECTIONS = 256;

const text = v.pipe(v.string("be a text"), v.nonEmpty("be a text that is not empty"));
const Settings = v.strictObject({
  type: v.literal("webhook", "be webhook"),
  /** A port without a host listens on this machine only. */
  listen: v.pipe(
    v.union([v.string(), v.number()], "be HOST:PORT, or a port of this machine alone"),
    v.transform((value) => (/^\d+$/.test(String(value)) ? `127.0.0.1:${value}` : String(value))),
    v.regex(/^(\[[0-9a-f:]+\]|[^:]+):\d{1,5}$/i, "be HOST:PORT, or a port of this machine alone"),
    v.check((value) => Number(/\d+$/.exec(value)?.[0]) < 65_536, "be HOST:PORT, with a port below 65536"),
  ),
  path: v.optional(v.pipe(text, v.startsWith("/", "begin with /")), "/"),
  /** The variable with the secret. */
  secretEnv: text,
  callbackUrl: v.pipe(text, v.check(isCallbackUrl, "be an https URL, or an http one of this machine, without a name and a password")),
  maxTextLength: v.optional(v.pipe(v.number("be a number"), v.integer("be a whole number"), v.minValue(100, "be 100 or more")), 65_536),
});
type Settings = v.InferOutput<typeof Settings>;

export const webhookKind = kindOf({
  settings: Settings,
  secrets: ({ secretEnv }) => [secretEnv],
  open: (settings, context) => Promise.resolve(webhook(settings, secretIn(settings, context), context)),
});

/** The body of a request. */
const Body = v.looseObject({
  chat: v.string(),
  from: v.string(),
  text: v.string(),
  /** The sender's id of the message: a known id is the same message, so that the sender or a thief may repeat a request without harm. */
  id: v.string(),
  session: v.optional(v.string()),
  attachments: v.optional(
    v.array(
      v.looseObject({
        type: v.fallback(v.picklist(["image", "file", "audio", "video", "other"]), "other"),
        // The sender is elsewhere, so it cannot name files of this machine.
        url: v.pipe(v.string(), v.regex(/^(https?|data):/i, "must be an http, https or data URL")),
        name: v.optional(v.string(), ""),
      }),
    ),
  ),
});

function webhook(settings: Settings, secret: string, { log, name }: PlatformContext): Platform {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: LOOK_MS });
  server.maxConnections = MOST_CONNECTIONS;
  return {
    limits: { text: settings.maxTextLength, tellsRefusals: true, wantsEnds: true },
    async start(inbox) {
      server.on("request", (request, response) => {
        answerTo(request, settings.path, secret, inbox)
          .catch((error: unknown): Answer => ({ status: 503, body: { error: messageOf(error) } }))
          .then((answer) => reply(response, answer))
          .catch((error: unknown) => log(`an answer was not sent: ${messageOf(error)}`));
      });
      log(`'${name}' listens on ${await listen(server, settings.listen)}${settings.path}`);
    },
    send: (message) => callBack(settings.callbackUrl, secret, message),
    pause() {
      server.close();
      return Promise.resolve();
    },
    stop() {
      server.closeAllConnections();
      return Promise.resolve();
    },
  };
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** The signature is checked before the body is read as a message. */
async function answerTo(request: IncomingMessage, path: string, secret: string, inbox: Inbox): Promise<Answer> {
  if (request.url?.split("?")[0] !== path) return refused(404, "There is nothing here");
  if (request.method !== "POST") return { ...refused(405, "Only POST is taken here"), headers: { allow: "POST" } };
  const bytes = await bodyOf(request);
  if (bytes === undefined) return { ...refused(413, `A body may have ${BODY_CAP} bytes`), headers: { connection: "close" } };
  const problem = signatureProblem(secret, request.headers[TIMESTAMP_HEADER], request.headers[SIGNATURE_HEADER], bytes);
  if (problem !== undefined) return refused(401, problem);
  const message = messageIn(bytes);
  return "problem" in message ? refused(400, message.problem) : verdictAnswer(await inbox.accept(message));
}

function messageIn(bytes: Buffer): Incoming | { problem: string } {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    const body = v.safeParse(Body, value);
    if (!body.success) return { problem: `${v.getDotPath(body.issues[0]) ?? "The body"}: ${body.issues[0].message}` };
    const { chat, from, text: words, id, session, attachments } = body.output;
    return {
      chat,
      from,
      text: words,
      key: id,
      ...(session !== undefined && { session }),
      ...(attachments !== undefined && { attachments }),
    };
  } catch {
    return { problem: "The body is not JSON" };
  }
}

const STATUS = { sender: 403, full: 429, stopping: 503, invalid: 400 } as const;
/** Seconds after which a sender may try a full conversation again. */
const RETRY_AFTER = "5";

function verdictAnswer(verdict: Verdict): Answer {
  if (verdict.accepted) return { status: 200, body: { ...verdict } };
  const { why, text: words } = verdict;
  const waits = why === "full" || why === "stopping";
  return { status: STATUS[why], body: { accepted: false, why, error: words }, ...(waits && { headers: { "retry-after": RETRY_AFTER } }) };
}

function refused(status: number, error: string): Answer {
  return { status, body: { accepted: false, error } };
}

function reply(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(`${JSON.stringify(body)}\n`);
}

/** Undefined when the body is too long; the rest of it is not read. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > BODY_CAP) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

async function listen(server: Server, where: string): Promise<string> {
  const colon = where.lastIndexOf(":");
  const host = where.slice(0, colon).replace(/^\[|\]$/g, "");
  await new Promise<void>((resolve, reject) => {
    server.on("error", (error) =>
      reject(new ParleyError({ code: "launch", message: `Could not listen on ${where}: ${messageOf(error)}`, retryable: false })),
    );
    server.listen(Number(where.slice(colon + 1)), host, resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function secretIn({ secretEnv }: Settings, { env, name }: PlatformContext): string {
  const secret = env[secretEnv] ?? "";
  if (secret.length >= SHORTEST_SECRET) return secret;
  const why = secret === "" ? "is not set" : `is shorter than ${SHORTEST_SECRET} characters`;
  throw new ParleyError({
    code: "config",
    message: `The secret of '${name}' belongs into the variable ${secretEnv}, which ${why}`,
    retryable: false,
  });
}
