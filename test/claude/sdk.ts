/** The Claude Agent SDK, unmodified, with Parley's launcher `claude` as its program and a scripted model server behind that. */
import { join } from "node:path";
import {
  query,
  type Options,
  type Query,
  type SDKMessage,
  type SDKResultMessage,
  type SDKUserMessage,
} from "@anthropic-ai/claude-agent-sdk";
import { onTestFinished } from "vitest";
import { scratch } from "../process/harness.js";
import { launchers } from "../support/launchers.js";
import { marked, type Marked } from "../support/processes.js";
import { modelServer, type ModelServer, type Reply } from "../support/model-server.js";

export interface Host {
  server: ModelServer;
  cwd: string;
  processes: Marked;
  options: Options;
}

export const MODEL = "claude-sonnet-4-6";

/** Starts everything that the queries of a test share: the program, the folder, the home, the model's server. */
export async function host(script: readonly Reply[], options: Options = {}): Promise<Host> {
  const server = await modelServer("anthropic", script);
  const folder = await launchers();
  const processes = marked();
  const cwd = scratch();
  return {
    server,
    cwd,
    processes,
    options: {
      cwd,
      model: MODEL,
      pathToClaudeCodeExecutable: join(folder, "claude"),
      settingSources: [],
      env: {
        ...processes.env,
        HOME: scratch(),
        PARLEY_HOME: scratch(),
        ANTHROPIC_BASE_URL: server.url,
        ANTHROPIC_API_KEY: server.key,
      },
      ...options,
    },
  };
}

/** All messages of a query, and what was thrown at its end. */
export interface Heard {
  all: SDKMessage[];
  results: SDKResultMessage[];
  /** "system/init", "assistant", …, without messages that say nothing of the turn. */
  types: string[];
  failure: string | undefined;
}

export async function heard(running: Query, onMessage: (message: SDKMessage) => void | Promise<void> = () => {}): Promise<Heard> {
  onTestFinished(() => running.close());
  const all: SDKMessage[] = [];
  let failure: string | undefined;
  try {
    for await (const message of running) {
      all.push(message);
      await onMessage(message);
    }
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const results = all.filter((message): message is SDKResultMessage => message.type === "result");
  const types = all.map((message) => (message.type === "system" ? `system/${message.subtype}` : message.type));
  return { all, results, types, failure };
}

export function ask({ options }: Host, prompt: string, more: Options = {}): Promise<Heard> {
  return heard(query({ prompt, options: { ...options, ...more } }));
}

/** A conversation of several prompts: each is said when `next` is called. */
export class Conversation {
  readonly #prompts: string[] = [];
  #wake: () => void = () => {};
  #over = false;

  say(prompt: string): void {
    this.#prompts.push(prompt);
    this.#wake();
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  async *input(): AsyncGenerator<SDKUserMessage> {
    for (;;) {
      const prompt = this.#prompts.shift();
      if (prompt !== undefined) yield { type: "user", message: { role: "user", content: prompt }, parent_tool_use_id: null };
      else if (this.#over) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

export function textOf(message: SDKMessage): string {
  if (message.type !== "assistant") return "";
  return message.message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
