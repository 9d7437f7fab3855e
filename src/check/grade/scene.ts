/** A scene: one requirement's own folder, model and agents; all of it is gone when the scene is over. */
import { mkdtemp, mkdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SessionConfig } from "../../core/config.js";
import type { Frame, Launch, Transport } from "../../core/wire.js";
import { parseJson } from "../../core/values/parse-json.js";
import type { Dialect } from "../../dialects/dialect.js";
import { sideEnv } from "../../link/stamp.js";
import { spawnTransport, type ProcessTransport } from "../../transports/process.js";
import { scriptedModel, type ScriptedModel } from "../model/server.js";
import { Conversation } from "./conversation.js";
import { Failed } from "./outcome.js";

const LOOK_MS = 50;
const PAUSE_MS = 300;

/** The agent to grade. */
export interface Candidate {
  dialect: Dialect;
  /** Its command line, with the flags of the dialect. */
  argv(flags: readonly string[]): string[];
  /** More flags, for the model's address. */
  modelFlags(url: string): string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Records a wire. */
  taped?(transport: Transport): Transport;
}

export interface Start {
  config?: SessionConfig;
  /** The id of a stored session, to go on with it; "latest" is the newest. */
  resume?: string;
  sessionId?: string;
  flags?: readonly string[];
  /** Where the process is started, if that is not the workspace. */
  cwd?: string;
  /** Without the model's key and address. */
  isKeyless?: true;
}

export class Scene {
  /** The workspace. */
  readonly folder: string;
  readonly model: ScriptedModel;
  readonly conversations: Conversation[] = [];
  readonly #candidate: Candidate;
  readonly #home: string;
  readonly #root: string;
  readonly #signal: AbortSignal;

  static async open(candidate: Candidate, signal: AbortSignal): Promise<Scene> {
    const root = await realpath(await mkdtemp(join(tmpdir(), "parley-check-")));
    await mkdir(join(root, "work"));
    await mkdir(join(root, "home"));
    return new Scene(candidate, root, await scriptedModel(), signal);
  }

  private constructor(candidate: Candidate, root: string, model: ScriptedModel, signal: AbortSignal) {
    this.#candidate = candidate;
    this.#root = root;
    this.folder = join(root, "work");
    this.#home = join(root, "home");
    this.model = model;
    this.#signal = signal;
  }

  /** Starts the agent as a host of its dialect would. */
  async start(options: Start = {}): Promise<Conversation & { pid: number }> {
    const { dialect, taped = (transport) => transport } = this.#candidate;
    const { env: base } = this.#candidate;
    const launch = this.#launch(options);
    const { url, env: keys } = this.model;
    const model = options.isKeyless === true ? [] : this.#candidate.modelFlags(url);
    const argv = [...this.#candidate.argv([...launch.argv, ...(options.flags ?? [])]), ...model];
    const given = Object.fromEntries(Object.entries(keys).map(([name, value]) => [name, options.isKeyless === true ? undefined : value]));
    const env = { ...base, ...given, HOME: this.#home, USERPROFILE: this.#home, ...launch.env };
    const cwd = options.cwd ?? this.folder;
    const pipe = await spawnTransport({ argv, cwd, env }, { framing: "text" });
    const conversation = new Conversation(taped(asJson(pipe)), dialect, this.#signal);
    this.conversations.push(conversation);
    return Object.assign(conversation, { pid: pipe.pid });
  }

  /** The arguments by which the dialect opens a session, or a connection. */
  #launch({ config = {}, resume, sessionId }: Start): Pick<Launch, "argv" | "env"> {
    const { dialect } = this.#candidate;
    if (dialect.lifetime === "connection") return { argv: [...(dialect.start ?? [])], env: {} };
    const id = resume ?? sessionId;
    const { out } = dialect.hostSide(sideEnv).write({
      type: "session.open",
      id: "open",
      session: "check",
      open: resume === undefined ? "new" : "resume",
      ...(id !== undefined && { sessionId: id }),
      config: { cwd: this.folder, ...config },
    });
    const launch = out.flatMap((one) => ("launch" in one ? [one.launch] : []))[0];
    return launch ?? { argv: [], env: {} };
  }

  /** Waits for what the agent leaves on the disk, until the scene's time is over. */
  async until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
    while (!(await holds())) {
      if (this.#signal.aborted)
        throw new Failed(`Expected ${what}, but it did not come to it in time.`, this.conversations.at(-1)?.lines());
      await sleep(LOOK_MS);
    }
  }

  /** Gives an agent time to do what it must not do. */
  async pause(): Promise<void> {
    await sleep(PAUSE_MS);
  }

  async close(): Promise<void> {
    await Promise.all(this.conversations.map((conversation) => conversation.end()));
    await this.model.close();
    await rm(this.#root, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Records and raw lines go out as they are; lines that are no JSON come in as bad ones. */
function asJson(pipe: ProcessTransport): Transport {
  return {
    frames: framesOf(pipe),
    write: (records) => pipe.write(records.map((one) => (typeof one === "string" ? one : JSON.stringify(one)))),
    flush: () => pipe.flush?.(),
    close: (how) => pipe.close(how),
    closed: pipe.closed,
  };
}

async function* framesOf({ frames }: Transport): AsyncIterable<Frame> {
  for await (const frame of frames) {
    if (!("rec" in frame) || typeof frame.rec !== "string") yield frame;
    else if (frame.rec.trim() !== "") {
      const read = parseJson(frame.rec);
      yield read === undefined ? { bad: "The line is not JSON", line: frame.rec } : { rec: read.json };
    }
  }
}
