/** A server for chat completions on loopback that answers with whatever a test writes, when the test writes it. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

export type Answer = (response: ServerResponse) => void;

export interface WrittenServer {
  url: string;
  /** The requests, as they came. */
  bodies: string[];
  /** Whether the client broke the first answer off. */
  left: Promise<"left" | "answered">;
}

/** The first request gets the first answer, and so on; those beyond get nothing. */
export async function writtenServer(...answers: Answer[]): Promise<WrittenServer> {
  const bodies: string[] = [];
  let settle: (how: "left" | "answered") => void = () => {};
  const left = new Promise<"left" | "answered">((resolve) => {
    settle = resolve;
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      bodies.push(Buffer.concat(chunks).toString());
      const isFirst = bodies.length === 1;
      response.once("close", () => isFirst && settle(response.writableFinished ? "answered" : "left"));
      response.writeHead(200, { "content-type": "text/event-stream" });
      const answer = answers[bodies.length - 1];
      if (answer === undefined) response.end();
      else answer(response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return { url: `http://127.0.0.1:${address.port}`, bodies, left };
}

export function answered(text: string): Answer {
  return (response) => void response.end(deltaEvent({ content: text }) + ending("stop"));
}

export function deltaEvent(delta: unknown, finish: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

export function ending(finish: string): string {
  return `${deltaEvent({}, finish)}data: [DONE]\n\n`;
}
