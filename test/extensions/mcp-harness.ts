/** MCP servers as real processes, and a session that uses them. */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { EventOf } from "../../src/core/event.js";
import type { NativeHost } from "../process/harness.js";

export const OFFICIAL = join(import.meta.dirname, "../fixtures/mcp/official.mjs");
const RAW = join(import.meta.dirname, "../fixtures/mcp/raw.mjs");

export function official(more: Record<string, unknown> = {}): Record<string, unknown> {
  return { command: process.execPath, args: [OFFICIAL, "stdio"], ...more };
}

/** A server with a bad habit. */
export function raw(habit: string, extra: string[] = [], more: Record<string, unknown> = {}): Record<string, unknown> {
  return { command: process.execPath, args: [RAW, habit, ...extra], ...more };
}

export interface Listener {
  child: ChildProcess;
  port: number;
  output(): string;
}

/** A server that says "port N" once it listens; it is ended with the test. */
export async function listening(file: string, args: readonly string[]): Promise<Listener> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  const gone = new Promise((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("close", () => reject(new Error("the server ended")));
    child.stdout.on("data", (text: Buffer) => {
      output += text.toString();
      const [, found] = /^port (\d+)$/m.exec(output) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
  });
  return { child, port, output: () => output };
}

/** A script that calls a tool and says what came of it. */
export function calling(tool: string, args: Record<string, unknown> = {}): unknown[] {
  return [{ call: { tool, args } }, { say: "done" }];
}

/** The catalogue once every server is connected or has failed; `nth` counts such catalogues from 1. */
export function settled(host: NativeHost, nth = 1): Promise<EventOf<"catalog.updated">> {
  return host.next(
    "catalog.updated",
    (event) =>
      event.whole &&
      host
        .ofType("catalog.updated")
        .filter(({ whole }) => whole)
        .indexOf(event) ===
        nth - 1,
  );
}

export function warmUp(host: NativeHost, block = "mcp-warmup"): string[] {
  return host
    .ofType("notice")
    .filter((notice) => notice.block === block)
    .map(({ text }) => text);
}

export function outputText(ended: EventOf<"tool.ended">): string {
  return (ended.output ?? []).map((part) => (part.type === "text" || part.type === "resource" ? part.text : `<${part.type}>`)).join("\n");
}
