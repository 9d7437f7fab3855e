/** A server that we start and talk to by its pipes. Its whole process tree ends with the connection. */
import { setTimeout as delay } from "node:timers/promises";
import {
  isJSONRPCNotification,
  parseJSONRPCMessage,
  SdkError,
  SdkErrorCode,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Frame } from "../../../core/wire.js";
import type { RedactingStream, Redactor } from "../../../core/secrets/redact.js";
import { encodeLine, FrameReader } from "../../../os/lines.js";
import { startTree, type Exit, type Tree } from "../../../os/processes/process.js";
import { oneLine } from "../../tools/title.js";

/** The grace from TERM to KILL. */
const GRACE_MS = 2000;
/** The time for the server's last output, if a child of it holds the pipe open. */
const LAST_WORDS_MS = 500;
/** The most lines in a row that are no messages: a few are a greeting, more are a flood. */
const MAX_GARBAGE = 1000;
const STDERR_CHARS = 2000;

interface StdioOptions {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  redactor: Redactor;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  readonly #frames = new FrameReader("json");
  readonly #redact: RedactingStream;
  #tree: Promise<Tree> | undefined;
  #stdin: NodeJS.WritableStream | undefined;
  #closing: Promise<void> | undefined;
  /** Settles when the server has exited by itself. */
  #left: Promise<void> | undefined;
  #stderr = "";
  #garbage = 0;
  #sample: string | undefined;
  /** The reason of an exit that we did not ask for. */
  #over: string | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#redact = options.redactor.stream();
  }

  async start(): Promise<void> {
    const { argv, cwd, env } = this.#options;
    this.#tree = startTree(argv, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    const tree = await this.#tree;
    const { stdin, stdout, stderr } = tree.child;
    stdin?.on("error", () => {});
    this.#stdin = stdin ?? undefined;
    if (stdout !== null) void this.#listen(stdout).catch(() => {});
    stderr?.setEncoding("utf8");
    stderr?.on("data", (text: string) => {
      // The text is redacted before it is cut: half a secret would not be found.
      this.#stderr = (this.#stderr + this.#redact.push(text)).slice(-STDERR_CHARS);
    });
    this.#left = leaving(tree).then((exit) => this.#fail(exitText(exit)));
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (): void => reject(new SdkError(SdkErrorCode.ConnectionClosed, "it no longer listens"));
      const stdin = this.#stdin;
      if (stdin === undefined || this.#closing !== undefined) return refuse();
      // A server that no longer reads is about to exit: its exit status tells why.
      stdin.write(encodeLine("json", message), (error) => (error ? void this.#leaving().then(refuse) : resolve()));
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** Describes a failed server: its exit, its output that was no message, and its last output on stderr. */
  report(): string | undefined {
    const last = oneLine(/[^\n]*$/.exec(this.#stderr.trimEnd())?.[0] ?? "");
    const said = [
      ...(this.#over === undefined ? [] : [this.#over]),
      ...(this.#sample === undefined ? [] : [`it printed '${this.#sample}', which is not a message`]),
      ...(last === "" ? [] : [`it said: ${last}`]),
    ];
    return said.length === 0 ? undefined : said.join("; ");
  }

  async #end(): Promise<void> {
    this.#stdin?.end();
    // The server may still be starting; one that could not start needs no end.
    const tree = await this.#tree?.catch(() => undefined);
    this.onclose?.();
    await tree?.end(GRACE_MS);
  }

  #leaving(): Promise<unknown> {
    return Promise.race([this.#left, delay(2 * LAST_WORDS_MS, undefined, { ref: false })]);
  }

  #fail(why: string): void {
    if (this.#closing !== undefined) return;
    this.#over = why;
    void this.close();
  }

  async #listen(stdout: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of stdout) {
      for (const frame of this.#frames.push(chunk)) {
        if (this.#closing !== undefined) return;
        const message = messageIn(frame);
        if (message === undefined) this.#note(frame);
        else await this.#deliver(message);
      }
    }
  }

  /** The client handles a notification a little later and a response at once: progress right before its result would be lost. */
  async #deliver(message: JSONRPCMessage): Promise<void> {
    this.#garbage = 0;
    this.onmessage?.(message);
    if (isJSONRPCNotification(message)) await new Promise(setImmediate);
  }

  #note(frame: Frame): void {
    const line = "bad" in frame ? frame.line : JSON.stringify("rec" in frame ? frame.rec : "");
    this.#sample ??= oneLine(this.#options.redactor.text(line), 100);
    // The dropped line may have been an awaited answer.
    if ("bad" in frame && /longer than|nested/.test(frame.bad)) return this.#fail("it was ended after a line that is too long or too deep");
    if (++this.#garbage > MAX_GARBAGE) this.#fail(`it was ended after ${MAX_GARBAGE} lines that are no messages`);
  }
}

/** Invalid UTF-8 does not make a message unreadable: it becomes replacement characters. */
function messageIn(frame: Frame): JSONRPCMessage | undefined {
  if ("bad" in frame) {
    const [read] = frame.line.includes("\uFFFD") ? new FrameReader("json").push(Buffer.from(`${frame.line}\n`)) : [];
    return read === undefined || "bad" in read ? undefined : messageIn(read);
  }
  try {
    return parseJSONRPCMessage("rec" in frame ? frame.rec : undefined);
  } catch {
    return undefined;
  }
}

/** A child of the server may hold its pipes open although the server is gone. */
async function leaving(tree: Tree): Promise<Exit> {
  const { child } = tree;
  const left = new Promise<Exit>((resolve) => {
    const after = (): unknown => setTimeout(() => resolve({ code: child.exitCode, signal: child.signalCode }), LAST_WORDS_MS).unref();
    if (child.exitCode !== null || child.signalCode !== null) after();
    else child.once("exit", after);
  });
  return Promise.race([tree.exited, left]);
}

function exitText({ code, signal }: Exit): string {
  return signal === null ? `it exited with code ${code ?? "unknown"}` : `it was ended by ${signal}`;
}
