/** The engine in this process, with a vendor's real package against a scripted server. Every stream goes through the grammar checker. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Agent } from "../../src/core/agent.js";
import type { SessionConfig } from "../../src/core/config.js";
import type { Part } from "../../src/core/content.js";
import { TIME_LIMITS } from "../../src/core/limits.js";
import type { Event, EventOf, EventType } from "../../src/core/event.js";
import { Grammar } from "../../src/core/grammar.js";
import { createEngine } from "../../src/engine/engine.js";
import type { Model } from "../../src/engine/models/model.js";
import type { ModelSource } from "../../src/engine/models/access.js";
import { openModel } from "../../src/engine/models/open.js";
import { ACCESS_KEY_ID, REGION } from "../support/aws-signature.js";
import type { Scenario } from "./scenarios.js";
import { modelServer, type ModelServer, type Reply, type WireName } from "../support/model-server.js";
import type { TokenServer } from "../support/token-server.js";

/** The smallest PNG there is. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export interface VendorUnderTest {
  name: string;
  wire: WireName;
  provider: string;
  model: string;
  /** Where its credentials are, as a refusal names it. */
  keyVariable?: string;
  source(server: ModelServer): Partial<ModelSource>;
  /** The scenarios that this vendor cannot have, each with the reason. */
  lacks?: Partial<Record<Scenario, string>>;
  /** How the vendor says things; what it cannot say is left out. */
  says: {
    /** Its word for an answer that reached its limit. */
    length: string;
    /** How it holds an answer back for safety, and what becomes of that. */
    safety: { reply: Reply; finish: "refusal" | "content_filter" };
    /** Its word for a failure of its own within the stream, and the status that this means. */
    overload: { type: string; status: number };
    /** It counts what it wrote into its cache. */
    cacheWrites?: true;
    /** It tells what the input cost before it answers. */
    usageFirst?: true;
    /** It counts reasoning as output, and does not tell how much of it that was. */
    reasoningUncounted?: true;
  };
}

const OPENAI_SAYS: Pick<VendorUnderTest["says"], "safety" | "overload"> = {
  safety: { reply: { refusal: ["I can't."] }, finish: "refusal" },
  overload: { type: "server_error", status: 500 },
};

const anthropic: VendorUnderTest = {
  name: "anthropic",
  wire: "anthropic",
  provider: "anthropic",
  model: "claude-sonnet-4-6",
  keyVariable: "ANTHROPIC_API_KEY",
  source: ({ url, key }) => ({ env: { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url } }),
  says: {
    length: "max_tokens",
    safety: { reply: { text: ["I can't."], stop: "refusal" }, finish: "refusal" },
    overload: { type: "overloaded_error", status: 529 },
    cacheWrites: true,
    usageFirst: true,
  },
};
const openaiChat: VendorUnderTest = {
  name: "openai, chat completions",
  wire: "openai-chat",
  provider: "openai",
  model: "gpt-5.4",
  keyVariable: "OPENAI_API_KEY",
  source: ({ url, key }) => ({ env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: url } }),
  says: { length: "length", ...OPENAI_SAYS },
};
const openaiResponses: VendorUnderTest = {
  ...openaiChat,
  name: "openai, responses",
  wire: "openai-responses",
  source: (server) => ({ ...openaiChat.source(server), providers: { openai: { api: "responses" } } }),
  says: { length: "max_output_tokens", ...OPENAI_SAYS },
};
const local: VendorUnderTest = {
  name: "local",
  wire: "local",
  provider: "local",
  model: "qwen3",
  source: ({ url }) => ({ chosen: "local", baseUrl: url }),
  says: {
    length: "length",
    safety: { reply: { text: ["I can't."], stop: "content_filter" }, finish: "content_filter" },
    overload: { type: "server_error", status: 500 },
  },
};
const gemini: VendorUnderTest = {
  name: "gemini",
  wire: "gemini",
  provider: "gemini",
  model: "gemini-2.5-flash",
  keyVariable: "GEMINI_API_KEY",
  source: ({ url, key }) => ({ env: { GEMINI_API_KEY: key }, chosen: "gemini", baseUrl: url }),
  says: {
    length: "MAX_TOKENS",
    safety: { reply: { text: ["I can't."], stop: "SAFETY" }, finish: "content_filter" },
    overload: { type: "UNAVAILABLE", status: 503 },
    usageFirst: true,
  },
};
const vertexGemini: VendorUnderTest = {
  ...gemini,
  name: "vertex, gemini",
  wire: "vertex-gemini",
  provider: "vertex",
  keyVariable: "GOOGLE_APPLICATION_CREDENTIALS",
  source: ({ url, tokens }) => ({ env: { ...googleCloud(tokens), VERTEX_REGION: "europe-west4" }, chosen: "vertex", baseUrl: url }),
};
const vertexClaude: VendorUnderTest = {
  ...anthropic,
  name: "vertex, claude",
  wire: "vertex-claude",
  provider: "vertex",
  keyVariable: "GOOGLE_APPLICATION_CREDENTIALS",
  source: ({ url, tokens }) => ({ env: googleCloud(tokens), chosen: "vertex", baseUrl: url }),
};
const bedrockClaude: VendorUnderTest = {
  name: "bedrock, Claude",
  wire: "bedrock-claude",
  provider: "bedrock",
  model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
  keyVariable: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
  source: ({ url, key }) => ({ env: awsEnv(url, { AWS_ACCESS_KEY_ID: ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: key }) }),
  says: { ...anthropic.says, overload: { type: "throttlingException", status: 429 } },
};
const bedrockConverse: VendorUnderTest = {
  ...bedrockClaude,
  name: "bedrock, Converse",
  wire: "bedrock-converse",
  model: "eu.amazon.nova-2-lite-v1:0",
  says: {
    length: "max_tokens",
    safety: { reply: { text: ["I can't."], stop: "guardrail_intervened" }, finish: "content_filter" },
    overload: { type: "serviceUnavailableException", status: 503 },
    cacheWrites: true,
    reasoningUncounted: true,
  },
};
const xai: VendorUnderTest = {
  name: "xai",
  wire: "xai",
  provider: "xai",
  model: "grok-4.5",
  keyVariable: "XAI_API_KEY",
  source: ({ url, key }) => ({ env: { XAI_API_KEY: key }, providers: { xai: { baseUrl: url } } }),
  says: {
    length: "max_output_tokens",
    safety: { reply: { text: ["I can't."], stop: "content_filter" }, finish: "content_filter" },
    overload: { type: "server_error", status: 500 },
  },
};
const openrouter: VendorUnderTest = {
  name: "openrouter",
  wire: "openrouter",
  provider: "openrouter",
  model: "anthropic/claude-sonnet-4.6",
  keyVariable: "OPENROUTER_API_KEY",
  source: ({ url, key }) => ({ env: { OPENROUTER_API_KEY: key }, providers: { openrouter: { baseUrl: url } } }),
  says: {
    length: "length",
    safety: { reply: { text: ["I can't."], stop: "content_filter" }, finish: "content_filter" },
    overload: { type: "502", status: 502 },
    cacheWrites: true,
  },
};
export const VENDORS = {
  anthropic,
  openaiChat,
  openaiResponses,
  local,
  xai,
  openrouter,
  gemini,
  vertexGemini,
  vertexClaude,
  bedrockClaude,
  bedrockConverse,
};

function googleCloud(tokens: TokenServer | undefined): Record<string, string> {
  return { VERTEX_PROJECT_ID: "project-1", GOOGLE_APPLICATION_CREDENTIALS: tokens?.serviceAccount ?? "" };
}

/** An environment for Bedrock in which nothing of this machine counts. */
export function awsEnv(url: string, more: Record<string, string>): Record<string, string> {
  const none = join(tmpdir(), "parley-no-such-folder");
  return { AWS_REGION: REGION, HOME: none, AWS_EC2_METADATA_DISABLED: "true", AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url, ...more };
}

/** A server with that script, and a session that talks to it. */
export async function talk(vendor: VendorUnderTest, script: readonly Reply[], options: TalkOptions = {}): Promise<Talk> {
  const server = await modelServer(vendor.wire, script);
  return new Talk(vendor, server, options);
}

export interface TalkOptions {
  config?: SessionConfig;
  files?: Record<string, string | Buffer>;
  /** Beside what the vendor's source says. */
  env?: Record<string, string>;
  /** Instead of what the vendor's source says. */
  source?: Partial<ModelSource> | ((server: ModelServer) => Partial<ModelSource>);
}

export class Talk {
  readonly server: ModelServer;
  readonly agent: Agent;
  readonly events: Event[] = [];
  readonly folder: string;
  readonly #grammar = new Grammar();
  readonly #violations: string[] = [];
  #watchers: (() => void)[] = [];
  #turns = 0;

  constructor(vendor: VendorUnderTest, server: ModelServer, { config = {}, files = {}, env = {}, source = {} }: TalkOptions) {
    this.server = server;
    this.folder = scratch(files);
    const own = sourceOf(vendor, server);
    const given = typeof source === "function" ? source(server) : source;
    // Nobody learns from waiting for another try.
    const limits = { ...TIME_LIMITS, retries: 3, waitSeconds: 0.02, ...given.limits };
    const from = { ...own, ...given, limits, env: { ...own.env, ...given.env, ...env } };
    this.agent = createEngine({
      defaults: { cwd: this.folder, provider: vendor.provider, model: vendor.model, mode: "yolo", ...config },
      openModel: (wanted, override) => openModel(wanted, override, from),
      env: from.env,
    });
    const heard = this.#listen();
    onTestFinished(async () => {
      await this.agent.close();
      await heard;
      expect([...this.#violations, ...this.#grammar.end()]).toEqual([]);
      expect(JSON.stringify(this.events)).not.toContain(server.key);
    });
    void this.agent.send({ type: "session.open", session: "s", open: "new", config: {} });
  }

  /** Prompts, and waits for the end of that turn. */
  async turn(prompt: string | Part[]): Promise<EventOf<"turn.ended">> {
    this.prompt(prompt);
    return this.ended();
  }

  prompt(prompt: string | Part[]): void {
    this.#turns++;
    void this.agent.send({
      type: "turn.prompt",
      session: "s",
      parts: typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt,
    });
  }

  async configure(patch: SessionConfig): Promise<void> {
    const before = this.of("session.updated").length;
    await this.agent.send({ type: "session.configure", session: "s", patch });
    await this.next("session.updated", (event) => this.of("session.updated").indexOf(event) === before);
  }

  /** The end of the turn that was prompted last. */
  async ended(): Promise<EventOf<"turn.ended">> {
    return this.next("turn.ended", (event) => this.of("turn.ended").indexOf(event) === this.#turns - 1);
  }

  async next<T extends EventType>(type: T, matches: (event: EventOf<T>) => boolean = () => true): Promise<EventOf<T>> {
    for (;;) {
      const found = this.of(type).find(matches);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  of<T extends EventType>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  texts(type: "text.delta" | "text.done" | "thinking.delta" | "thinking.done"): string[] {
    return this.of(type).map(({ text }) => text);
  }

  /** The body of the nth request, counted from 1. */
  body(nth: number): unknown {
    return this.server.requests[nth - 1]?.body;
  }

  async #listen(): Promise<void> {
    for await (const event of this.agent.events) {
      this.events.push(event);
      this.#violations.push(...this.#grammar.event(event).map((violation) => `${violation} in ${JSON.stringify(event)}`));
      for (const wake of this.#watchers.splice(0)) wake();
    }
  }
}

/** The model alone, without an engine around it. */
export function modelAt(vendor: VendorUnderTest, server: ModelServer): Promise<Model> {
  return openModel({ provider: vendor.provider, model: vendor.model }, undefined, sourceOf(vendor, server));
}

function sourceOf(vendor: VendorUnderTest, server: ModelServer): ModelSource {
  return { env: {}, providers: {}, chosen: undefined, ...vendor.source(server) };
}

function scratch(files: Record<string, string | Buffer>): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-test-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
