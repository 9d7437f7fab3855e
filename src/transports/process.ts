/** A child process as a transport: stdin and stdout carry the records, and the end of stderr is kept for the error message. */
import type { Readable } from "node:stream";
import type { Closed } from "../core/event.js";
import type { Frame, Launch, Transport } from "../core/wire.js";
import { startTree, type Exit, type Tree } from "../os/processes/process.js";
import type { Framing } from "../os/lines.js";
import { Tail } from "../os/processes/tail.js";
import { LineWriter, readFrames } from "./streams.js";

/** The grace from TERM to KILL on an orderly end. */
const GRACE_MS = 2000;
/** How long output on stderr may stay in the pipe after the last process that could write more is gone. */
const DRAIN_MS = 100;
/** How long a pipe may be silent that is held open by a process outside the tree, which we cannot end. */
const HELD_MS = 200;

/** How lines of a program are cut, and who hears its stderr. */
export interface ProcessOptions {
  framing: Framing;
  lineCap?: number;
  /** The grace from TERM to KILL when the process is ended early. */
  graceMs?: number;
  /** Called with the child's stderr as it comes. */
  onStderr?(text: string): void;
}

/** The program to start; `process.env` can be passed as its environment. */
export interface ProcessLaunch extends Pick<Launch, "argv" | "cwd" | "input"> {
  env: Readonly<Record<string, string | undefined>>;
}

/** A transport to a program, with its process id. */
export interface ProcessTransport extends Transport {
  readonly pid: number;
}

/** Starts a program and speaks lines to it; it ends with everything that it started. */
export async function spawnTransport(launch: ProcessLaunch, options: ProcessOptions): Promise<ProcessTransport> {
  const tree = await startTree(launch.argv, { cwd: launch.cwd, env: launch.env, stdio: ["pipe", "pipe", "pipe"] });
  const { stdin, stdout, stderr } = tree.child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("a child was started without pipes");
  const writer = new LineWriter(stdin, options.framing);
  if (launch.input !== undefined) writer.end(launch.input);
  const tail = new Tail();
  /** The child has sent a record since its last output on stderr. */
  let hasGoneOn = false;
  stderr.setEncoding("utf8");
  stderr.on("data", (text: string) => {
    hasGoneOn = false;
    tail.push(text);
    options.onStderr?.(text);
  });
  // A child may exit before its output is read; without a listener Node would drop it.
  stdout.on("readable", () => {});
  return {
    pid: tree.pid,
    frames: noting(readFrames(stdout, options.framing, options.lineCap), () => (hasGoneOn = true)),
    write(records) {
      // The child went on after this output and gets more work, so the output does not explain its end.
      if (hasGoneOn) tail.clear();
      return writer.write(records);
    },
    close(how) {
      writer.end();
      if (how === "term") void tree.end(options.graceMs ?? GRACE_MS);
    },
    closed: ended(tree, launch, tail),
  };
}

async function* noting(frames: AsyncIterable<Frame>, onFrame: () => void): AsyncIterable<Frame> {
  for await (const frame of frames) {
    onFrame();
    yield frame;
  }
}

/** Does not wait for the reader of the output, who sees its end in the frames. */
async function ended(tree: Tree, launch: ProcessLaunch, tail: Tail): Promise<Closed> {
  const quiet = new Promise((resolve) => tree.child.stderr?.once("close", resolve));
  const { code, signal } = await new Promise<Exit>((resolve) => {
    tree.child.once("exit", (exitCode, exitSignal) => resolve({ code: exitCode, signal: exitSignal }));
  });
  // Processes that the child left behind would keep the pipes open.
  await tree.end(GRACE_MS);
  letGo(tree.child.stdout, "readable");
  letGo(tree.child.stderr, "data");
  await Promise.race([quiet, new Promise((resolve) => setTimeout(resolve, DRAIN_MS))]);
  if (code === 0) return { code, signal };
  const how = signal === null ? `exited with code ${code ?? "unknown"}` : `was ended by ${signal}`;
  const words = tail.reason();
  return { code, signal, reason: `Agent '${launch.argv[0] ?? ""}' ${how}${words === "" ? "" : `: ${words}`}` };
}

/** Ends a pipe that may never end by itself, once all its content is read. `sign` marks that content is arriving. */
function letGo(pipe: Readable | null, sign: "readable" | "data"): void {
  if (pipe === null || pipe.closed) return;
  let heard = true;
  pipe.on(sign, () => (heard = true));
  // Checked after the poll for input, as a late timer fires before it.
  const look = setInterval(() => setImmediate(check), HELD_MS).unref();
  pipe.once("close", () => clearInterval(look));

  function check(): void {
    if (!heard && pipe?.readableLength === 0) pipe.destroy();
    heard = false;
  }
}
