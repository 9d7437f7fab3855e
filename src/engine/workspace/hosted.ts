/**
 * A workspace whose files and commands are the host's, as far as the host takes them over: what an editor has not saved counts, and commands
 * run in its terminals. Paths, sizes and stamps are those of this machine, and so is everything that the host cannot do (binary files,
 * commands with input or in the background).
 */
import { dirname } from "node:path";
import * as v from "valibot";
import type { SessionConfig } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import type { HostReply } from "../session/host-requests.js";
import { holdFolder } from "./held-folder.js";
import { toolError } from "./local-files.js";
import type { ExecRequest, Running, Workspace } from "./workspace.js";

export interface HostAsk {
  /** Within the turn: an interrupt settles it. */
  ask(kind: "fs" | "terminal", data: object, seconds?: number): Promise<HostReply>;
  /** Whatever becomes of the turn. */
  askAlways(kind: "terminal", data: object): Promise<HostReply>;
}

type Hosted = NonNullable<SessionConfig["workspace"]>;

export function hostedWorkspace(local: Workspace, { read, write, exec }: Hosted, host: HostAsk): Workspace {
  return {
    ...local,
    ...(read === "host" && { read: (path, maxBytes, seen) => readOf(path, maxBytes, host, local.read(path, maxBytes, seen)) }),
    ...(write === "host" && {
      write: (path, data, mode) => (typeof data === "string" ? writeTo(path, data, host) : local.write(path, data, mode)),
    }),
    ...(exec === "host" && {
      exec: (request) => (isForHost(request) && !isForSandbox(request, local) ? run(request, host, local.root) : local.exec(request)),
    }),
  };
}

const Content = v.object({ content: v.string() });
const Failure = v.object({ message: v.string() });

/** The host has text alone; a file that it does not know is read here. */
async function readOf(path: string, maxBytes: number, host: HostAsk, onDisk: Promise<Uint8Array>): Promise<Uint8Array> {
  const bytes = await onDisk;
  if (bytes.subarray(0, 8192).includes(0)) return bytes;
  const { ok, data } = await host.ask("fs", { do: "read", path });
  if (!ok || !v.is(Content, data)) return bytes;
  const text = new TextEncoder().encode(data.content);
  if (text.length > maxBytes) throw toolError(`Failed to read file ${path}: it has ${text.length} bytes, and ${maxBytes} are the limit.`);
  return text;
}

async function writeTo(path: string, content: string, host: HostAsk): Promise<void> {
  const folder = await holdFolder(dirname(path), true);
  await folder.close();
  const { ok, data } = await host.ask("fs", { do: "write", path, content });
  if (!ok) throw toolError(`Failed to write file ${path}: ${v.is(Failure, data) ? data.message : "the host could not write it"}`);
}

// --- commands ---

/** The output of a command that the host keeps, in bytes. */
const OUTPUT_BYTES = 1024 * 1024;
/** Longer than any command is waited for; its own limit ends it. */
const WAIT_SECONDS = 900;

const Created = v.object({ terminal: v.string() });
const Exit = v.object({ exit: v.object({ code: v.nullable(v.number()), signal: v.nullable(v.string()) }) });
const Output = v.object({ output: v.string() });

/** The terminals of a host are outside of our sandbox. */
function isForSandbox({ confined }: ExecRequest, { sandbox }: Workspace): boolean {
  return confined === true && sandbox !== undefined;
}

function isForHost({ input, interactive, leftovers, isAlone }: ExecRequest): boolean {
  return input === undefined && interactive !== true && leftovers !== true && isAlone !== true;
}

async function run({ argv: [command = "", ...args], cwd, env, onOutput }: ExecRequest, host: HostAsk, root: string): Promise<Running> {
  const asked = { do: "create", command, args, cwd: cwd ?? root, outputByteLimit: OUTPUT_BYTES, ...(env !== undefined && { env }) };
  const created = await host.ask("terminal", asked);
  if (!created.ok || !v.is(Created, created.data)) {
    const why = v.is(Failure, created.data) ? created.data.message : "the host could not start it";
    throw new ParleyError({ code: "launch", message: `Could not start ${command} in a terminal of the host: ${why}`, retryable: false });
  }
  const { terminal } = created.data;
  let isReleased: Promise<unknown> | undefined;
  const release = (): Promise<unknown> => (isReleased ??= host.askAlways("terminal", { do: "release", terminal }));
  const exited = ended();
  return {
    pid: 0,
    isHosted: true,
    exited,
    leftover: Promise.resolve(false),
    async end(graceMs) {
      await host.askAlways("terminal", { do: "kill", terminal });
      // Of a turn that goes on, the output is still wanted.
      await within(graceMs, exited);
      await release();
    },
  };

  async function ended(): ReturnType<() => Running["exited"]> {
    const { ok, data } = await host.ask("terminal", { do: "wait", terminal }, WAIT_SECONDS);
    if (!ok) return { code: null, signal: "SIGTERM" };
    const said = await host.ask("terminal", { do: "output", terminal });
    if (said.ok && v.is(Output, said.data)) onOutput("stdout", said.data.output);
    await release();
    return v.is(Exit, data) ? data.exit : { code: null, signal: null };
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
