/** The built agent before a scripted model server, for tests of commands: what the model is told, and what the host is asked. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import * as v from "valibot";
import { environment, NativeHost, PARLEY, scratch } from "../process/harness.js";
import { modelServer, type Reply } from "../support/model-server.js";

export interface ShellSession {
  host: NativeHost;
  home: string;
  /** The results that the model was given with its nth request, counted from 0, as text. */
  results(nth: number): string[];
  /** All text of the last message of the user in the nth request. */
  words(nth: number): string;
  /** Prompts, and waits for the end of the turn. */
  turn(text?: string): Promise<void>;
  requests(): number;
}

interface Options {
  cwd?: string;
  home?: string;
  /** The user's config.yaml. */
  config?: string;
  env?: Record<string, string>;
  args?: string[];
}

const Request = v.object({
  messages: v.array(v.object({ role: v.string(), content: v.union([v.string(), v.array(v.looseObject({ type: v.string() }))]) })),
});

/** Each entry of `script` is an answer of the model: a command of Bash, or any reply. */
export async function shellSession(script: readonly (string | Reply)[], options: Options = {}): Promise<ShellSession> {
  const server = await modelServer(
    "anthropic",
    script.map((entry) => (typeof entry === "string" ? call("Bash", { command: entry }) : entry)),
  );
  const home = options.home ?? scratch();
  if (options.config !== undefined) writeFileSync(join(home, "config.yaml"), options.config);
  const env = environment({ ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url, PARLEY_HOME: home, ...options.env });
  const args = [PARLEY, "serve", "--dialect", "native", "--provider", "anthropic", "--model", "claude-sonnet-4-5", ...(options.args ?? [])];
  const host = new NativeHost(spawn(process.execPath, args, { cwd: options.cwd ?? scratch(), env }));
  await host.open();
  const content = (nth: number): readonly Record<string, unknown>[] => {
    const last = v.parse(Request, server.requests[nth]?.body).messages.at(-1)?.content ?? [];
    return typeof last === "string" ? [{ type: "text", text: last }] : last;
  };
  return {
    host,
    home,
    results: (nth) => content(nth).flatMap(({ type, content: told }) => (type === "tool_result" ? [textOf(told)] : [])),
    words: (nth) =>
      content(nth)
        .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
        .join("\n"),
    requests: () => server.requests.length,
    async turn(text = "go") {
      const before = host.ofType("turn.ended").length;
      host.prompt(text);
      expect(await host.turnEnded(before + 1)).toMatchObject({ outcome: "completed" });
    },
  };
}

function call(name: string, args: Record<string, unknown>): Reply {
  return { calls: [{ name, args }] };
}

const Texts = v.array(v.looseObject({ text: v.optional(v.string(), "") }));

function textOf(told: unknown): string {
  return typeof told === "string"
    ? told
    : v
        .parse(Texts, told)
        .map(({ text }) => text)
        .join("\n");
}
