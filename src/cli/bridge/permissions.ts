/** Answers an agent's permission requests: by a policy, by the person at the terminal, or by the program that reads our lines. */
import { createInterface, type Interface } from "node:readline/promises";
import * as v from "valibot";
import type { PermissionAnswer, PermissionRequest } from "../../bridge/index.js";
import { readFrames } from "../../transports/streams.js";
import { asker } from "../chat/asker.js";
import { text, usage, type Parsed } from "../command-line/flags.js";
import { shown } from "../../core/text/terminal-text.js";

export interface Permissions {
  ask(request: PermissionRequest): Promise<PermissionAnswer>;
  /** Closes stdin. */
  close(): void;
}

export interface Asking {
  /** stdin carried the message, so that it has no place for answers. */
  isStdinTaken: boolean;
  say(line: unknown): void;
  warn(text: string): void;
}

export function permissionPolicy(parsed: Parsed): "ask" | "allow" | "deny" {
  const policy = text(parsed, "permission") ?? "ask";
  if (policy !== "ask" && policy !== "allow" && policy !== "deny") throw usage(`--permission is ask, allow or deny, not '${policy}'`);
  return policy;
}

export function byPolicy(behavior: "allow" | "deny", message: string): Permissions {
  return { ask: async () => (behavior === "allow" ? { behavior } : { behavior, message }), close() {} };
}

// --- a person ---

const CLOSED = "the terminal was closed";

/** Asks one question at a time, on stderr; `before` runs before each question. */
export function byTerminal(before: () => void): Permissions {
  const ended = new AbortController();
  let terminal: Interface | undefined;
  /** After the end of input no question is asked. */
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask(request) {
      const answer = last.then(async () => {
        if (isClosed) return deny(CLOSED);
        terminal ??= opened();
        before();
        const reply = await asker(terminal).ask(question(request), ended.signal);
        isClosed = reply === undefined;
        return reply === undefined ? deny(CLOSED) : read(reply);
      });
      last = answer;
      return answer;
    },
    close() {
      ended.abort();
      terminal?.close();
    },
  };
}

/** An open terminal makes Ctrl-C a key instead of a signal. */
function opened(): Interface {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  return terminal;
}

function question({ tool, input, description }: PermissionRequest): string {
  const what = [description ?? tool, JSON.stringify(input, null, 2)].join("\n");
  return `${shown(what, process.stderr)}\nAllow ${shown(tool, process.stderr)}? [y]es, [n]o, or a reason why not: `;
}

function read(reply: string): PermissionAnswer {
  const word = reply.trim();
  if (/^(y|yes)$/i.test(word)) return { behavior: "allow" };
  return deny(/^(n|no)?$/i.test(word) ? "the user said no" : word);
}

// --- a machine ---

const Response = v.looseObject({
  type: v.literal("permission_response"),
  request_id: v.string(),
  behavior: v.picklist(["allow", "deny"]),
  updated_input: v.optional(v.record(v.string(), v.unknown())),
  message: v.optional(v.string()),
});
type Response = v.InferOutput<typeof Response>;

/** Reads answers as lines of stdin; from its end on everything is denied. */
export function byLines({ isStdinTaken, say, warn }: Asking): Permissions {
  const waiting = new Map<string, (answer: PermissionAnswer) => void>();
  let isReading = false;
  let isClosed = isStdinTaken;
  return {
    ask(request) {
      const { id, tool, input, description } = request;
      say({ type: "permission_request", request_id: id, tool_name: tool, input, ...(description !== undefined && { description }) });
      if (isClosed) return Promise.resolve(deny(isStdinTaken ? "stdin carries the message" : "stdin is closed"));
      const answer = new Promise<PermissionAnswer>((resolve) => waiting.set(id, resolve));
      if (!isReading) void listen();
      return answer;
    },
    close() {
      if (isReading) process.stdin.destroy();
    },
  };

  async function listen(): Promise<void> {
    isReading = true;
    for await (const frame of readFrames(process.stdin, "json")) {
      const response = v.safeParse(Response, "rec" in frame ? frame.rec : undefined);
      if (response.success) take(response.output);
      else warn("A line on stdin is no permission_response and is ignored");
    }
    isClosed = true;
    for (const resolve of waiting.values()) resolve(deny("stdin is closed"));
    waiting.clear();
  }

  function take({ request_id: id, behavior, updated_input: updatedInput, message }: Response): void {
    const resolve = waiting.get(id);
    if (resolve === undefined) return warn(`Nothing waits for the permission_response to '${id}'`);
    waiting.delete(id);
    if (behavior === "allow") resolve({ behavior, ...(updatedInput !== undefined && { updatedInput }) });
    else resolve({ behavior, ...(message !== undefined && { message }) });
  }
}

function deny(message: string): PermissionAnswer {
  return { behavior: "deny", message };
}
