/** A model that says what a test says, when the test says it. */
import type { ServerResponse } from "node:http";
import { deltaEvent, ending, writtenServer } from "../support/written-server.js";

export interface Speaker {
  url: string;
  args: string[];
  /** A piece of the present answer; waits until the model is asked. */
  say(text: string): Promise<void>;
  think(text: string): Promise<void>;
  /** Ends the present answer; the next piece belongs to the next one. */
  end(call?: { tool: string; args: unknown }): Promise<void>;
  /** The requests, as they came. */
  bodies: readonly string[];
}

export async function speaker(): Promise<Speaker> {
  const begun: ((response: ServerResponse) => void)[] = [];
  const answers = Array.from({ length: MOST_ANSWERS }, (_, at) => new Promise<ServerResponse>((resolve) => (begun[at] = resolve)));
  const server = await writtenServer(
    ...begun.map(
      (begin) =>
        (response: ServerResponse): void =>
          begin(response),
    ),
  );
  let at = 0;
  const write = async (text: string): Promise<void> => void (await answers[at])?.write(text);
  return {
    url: server.url,
    args: ["--provider", "local", "--base-url", server.url, "--model", "m"],
    say: (text) => write(deltaEvent({ content: text })),
    think: (text) => write(deltaEvent({ reasoning_content: text })),
    async end(call) {
      if (call !== undefined) await write(deltaEvent({ tool_calls: [calling(at, call)] }));
      (await answers[at++])?.end(usageEvent + ending(call === undefined ? "stop" : "tool_calls"));
    },
    bodies: server.bodies,
  };
}

const MOST_ANSWERS = 8;
const usageEvent = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 5 } })}\n\n`;

function calling(at: number, { tool, args }: { tool: string; args: unknown }): Record<string, unknown> {
  return { index: 0, id: `call_${at}`, function: { name: tool, arguments: JSON.stringify(args) } };
}
