/** Ante clients over WebSockets: a server that is the built command, and clients of it. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { expect, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import type { EventFields, EventName } from "../../src/dialects/ante/wire/records.js";
import { environment, PARLEY, scratch, script } from "../process/harness.js";
import { AnteClient, type AnteLine } from "./client.js";
import type { Msg } from "./order.js";

export interface ServerOptions {
  args?: string[];
  address?: string;
  env?: Record<string, string>;
  cwd?: string;
}

/** `parley serve --ws`, once it listens. */
export async function serveWs(options: ServerOptions = {}): Promise<WsServer> {
  const args = ["serve", "--ws", options.address ?? "127.0.0.1:0", ...(options.args ?? [])];
  const server = new WsServer(spawn(process.execPath, [PARLEY, ...args], { cwd: options.cwd ?? scratch(), env: environment(options.env) }));
  await server.listening();
  return server;
}

export class WsServer {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  stdout = "";
  stderr = "";
  url = "";
  readonly #listening: Promise<void>;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    let over = false;
    child.stdout.on("data", (bytes: Buffer) => {
      this.stdout += bytes.toString();
    });
    this.exited = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        over = true;
        resolve({ code, signal });
      });
    });
    this.#listening = new Promise((resolve, reject) => {
      child.stderr.on("data", (bytes: Buffer) => {
        this.stderr += bytes.toString();
        const [, url] = /^listening on (\S+)$/m.exec(this.stderr) ?? [];
        if (url === undefined) return;
        this.url = url;
        resolve();
      });
      void this.exited.then(() => reject(new Error(`The server ended before it listened: ${this.stderr}`)));
    });
    onTestFinished(async () => {
      if (!over) child.kill("SIGKILL");
      await this.exited;
      expect(this.stdout).toBe("");
    });
  }

  listening(): Promise<void> {
    return this.#listening;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async connect(): Promise<WsClient> {
    const client = new WsClient(new WebSocket(this.url));
    await client.open();
    return client;
  }

  /** A client with a session of the rehearsal model. */
  async session(responses?: unknown[], fields: Record<string, unknown> = {}): Promise<WsClient> {
    const client = await this.connect();
    await client.start({ ...(responses !== undefined && { model: script(responses) }), ...fields });
    return client;
  }
}

/** A socket as a line to a daemon. */
export class WsLine implements AnteLine {
  readonly socket: WebSocket;
  readonly closed: Promise<number | null>;

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once("close", (code) => resolve(code)));
  }

  send(text: string): void {
    this.socket.send(text);
  }

  onRecord(hear: (text: string) => void): void {
    this.socket.on("message", (data, isBinary) => {
      expect(isBinary).toBe(false);
      hear(Buffer.isBuffer(data) ? data.toString() : "");
    });
  }

  end(): void {
    this.socket.close();
  }

  kill(): void {
    this.socket.terminate();
  }
}

/** An Ante client and the socket that it speaks over. */
export class WsClient {
  readonly socket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #ante: AnteClient;
  readonly #opened: Promise<void>;

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.#opened = new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    socket.on("error", () => {});
    this.#ante = new AnteClient(new WsLine(socket));
    this.closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => {
        // Whoever is cut off does not hear Goodbye.
        if (code !== 1000) this.#ante.cut();
        resolve({ code, reason: reason.toString() });
      });
    });
  }

  open(): Promise<void> {
    return this.#opened;
  }

  /** Returns the id that it had. */
  send(op: unknown): string {
    return this.#ante.send(op);
  }

  raw(text: string): void {
    this.#ante.raw(text);
  }

  async start(fields: Record<string, unknown> = {}): Promise<void> {
    await this.#ante.start(fields);
  }

  /** The nth event of that name, counted from 1, heard already or yet to come. */
  async next<N extends EventName>(name: N, nth = 1): Promise<EventFields<N>> {
    const { fields } = await this.#ante.next(name, ({ id }) => this.#ante.of(name)[nth - 1]?.id === id);
    return fields;
  }

  of<N extends EventName>(name: N): EventFields<N>[] {
    return this.#ante.of(name).map(({ fields }) => fields);
  }

  get heard(): readonly Msg[] {
    return this.#ante.msgs;
  }

  names(): string[] {
    return this.#ante.names();
  }
}
