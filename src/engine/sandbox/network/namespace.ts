/**
 * A network of a session's own: a namespace with nothing but its loopback interface, which all commands of the session share, so that one
 * reaches the server that another one has started. A small process holds it open; it ends with its input, and so with us. With a proxy, that
 * process carries connections from inside to the proxy's socket outside.
 */
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { startTree, type Tree } from "../../../os/processes/process.js";
import { findProgram, noSandbox } from "../system.js";

export interface NetworkNamespace {
  /** The words in front of a command that starts in it. */
  readonly entering: readonly string[];
  /** The port inside that leads to the proxy; 0 without one. */
  readonly port: number;
  close(): Promise<void>;
}

/** Its arguments: the path of the proxy's socket. It tells its port in a line. */
const CARRIER = `
const net = require("node:net");
const server = net.createServer({ allowHalfOpen: true }, (inside) => {
  const outside = net.connect({ path: process.argv[1], allowHalfOpen: true });
  for (const [one, other] of [[inside, outside], [outside, inside]]) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
    one.pipe(other);
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
`;

/** Its own user namespace is entered with it; bubblewrap then makes another one below, without rights over this one. */
const HELD = "--unshare-user --unshare-net --unshare-pid --cap-drop ALL --ro-bind / / --proc /proc --info-fd 3 --".split(" ");

/** `socket`: the path of the proxy's socket. Throws a fault that says what is missing. */
export async function openNamespace(bwrap: string, socket: string | undefined, writable: readonly string[]): Promise<NetworkNamespace> {
  const nsenter = await findProgram("nsenter", process.env["PATH"], writable);
  if (nsenter === undefined)
    throw noSandbox("nsenter, which a network of its own needs, was not found; install util-linux, or set sandbox.network to off");
  const held = socket === undefined ? ["/bin/sh", "-c", "echo 0; read line"] : [process.execPath, "-e", CARRIER, socket];
  const tree = await startTree([bwrap, ...HELD, ...held], {
    env: { PATH: process.env["PATH"], ELECTRON_RUN_AS_NODE: "1" },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  tree.child.stdin?.on("error", () => undefined);
  try {
    const [told, port, said] = [lineOf(tree.child.stdio[3], "}"), lineOf(tree.child.stdout, "\n"), lineOf(tree.child.stderr, "\n")];
    const pid = /"child-pid": *(\d+)/.exec(await told)?.[1];
    const line = await port;
    if (pid === undefined || !/^\d+/.test(line)) throw noSandbox(`its network could not be made: ${(await said).trim()}`);
    return namespaceOf(tree, nsenter, pid, Number.parseInt(line, 10));
  } catch (error) {
    await tree.end(0);
    throw error;
  }
}

/** The namespaces are held by open files: a number of a process may be another's later. */
function namespaceOf(tree: Tree, nsenter: string, pid: string, port: number): NetworkNamespace {
  // Nobody waits for it.
  for (const stream of tree.child.stdio) if (stream != null && "unref" in stream && typeof stream.unref === "function") stream.unref();
  tree.child.unref();
  const files = ["user", "net"].map((kind) => [kind, openSync(`/proc/${pid}/ns/${kind}`, "r")] as const);
  return {
    entering: [nsenter, ...files.map(([kind, file]) => `--${kind}=/proc/${process.pid}/fd/${file}`), "--preserve-credentials", "--"],
    port,
    async close() {
      for (const [, file] of files) closeSync(file);
      await tree.end(0);
    },
  };
}

/** The beginning of a stream up to that text; all of it where the text does not come. */
function lineOf(stream: unknown, end: string): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    if (!isReadable(stream)) return resolve(text);
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes(end)) resolve(text);
    });
    stream.on("close", () => resolve(text));
  });
}

function isReadable(stream: unknown): stream is Readable {
  return typeof stream === "object" && stream !== null && "on" in stream && "read" in stream;
}
