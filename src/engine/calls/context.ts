/** The context of a running call: the services that its tool may use. */
import { relative } from "node:path";
import type { Mode } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import type { Answer } from "../../core/op.js";
import type { Redactor } from "../../core/secrets/redact.js";
import { addUsage } from "../../core/usage.js";
import type { WebAnswer } from "../models/model.js";
import { costed } from "../models/prices.js";
import type { JudgedCall } from "../permissions/permissions.js";
import type { SpawnOutcome, SpawnTask, ToolContext } from "../tools/tool.js";
import type { Trace } from "../trace/trace.js";
import type { Turn } from "../turn/turn.js";
import { workspaceFor } from "./workspace-for.js";

/** After the end of its call it reports nothing more. */
export class CallContext implements ToolContext {
  readonly call: string;
  readonly signal: AbortSignal;
  readonly workspace;
  readonly seen;
  readonly shell;
  readonly folder: string | undefined;
  readonly outputs;
  readonly outputChars: number;
  readonly redactor;
  readonly trace: Trace | undefined;
  readonly #turn: Turn;
  /** The targets of the call's paths when it was judged. */
  readonly #judged: readonly string[];
  readonly #grant: Answer["grant"];
  readonly #redact = new Map<string, ReturnType<Redactor["stream"]>>();
  #open = true;

  constructor(turn: Turn, call: string, { paths, folder }: JudgedCall, grant: Answer["grant"], trace: Trace | undefined) {
    this.call = call;
    this.signal = turn.signal;
    this.workspace = workspaceFor(turn, call);
    this.seen = turn.seen;
    this.shell = turn.shell;
    this.folder = folder;
    this.outputs = turn.session.outputs;
    this.outputChars = turn.session.outputChars;
    this.redactor = turn.session.redactor;
    this.trace = trace;
    this.#turn = turn;
    this.#judged = paths.map(({ path }) => path);
    this.#grant = grant;
  }

  async locate(path: string): Promise<string> {
    const place = await this.workspace.resolve(path);
    if (this.#judged.includes(place.path)) return place.path;
    const message = place.inside
      ? `${path} now leads to ${place.path}, and not to what was judged; call it again`
      : `${path} lies outside the workspace, and this call was not approved for that`;
    throw new ParleyError({ code: "tool", message });
  }

  hiding(tools: readonly string[]): ((path: string) => boolean) | undefined {
    const hides = this.#turn.session.permissions.hiding(tools);
    const { root } = this.workspace;
    return hides === undefined ? undefined : (path) => hides({ path, relative: relative(root, path) });
  }

  progress(text: string, channel?: "stdout" | "stderr"): void {
    if (!this.#open || this.signal.aborted) return;
    const safe = this.#stream(channel).push(text);
    this.#say(safe, channel);
  }

  adopt(child: { end(graceMs: number): Promise<void>; exited: Promise<unknown> }): void {
    const { children } = this.#turn.session;
    children.add(child);
    void child.exited.finally(() => children.delete(child));
  }

  /** A yes with a wider grant than the call also allows the edits that follow. */
  leavePlan(): Mode {
    const mode: Mode = this.#grant === "tool" || this.#grant === "category" ? "auto_edit" : "default";
    this.#turn.session.setMode(mode);
    return mode;
  }

  async spawn(tasks: readonly SpawnTask[]): Promise<SpawnOutcome[]> {
    const { runSubAgents } = await import("../turn/sub-agents/sub-agents.js");
    return runSubAgents(this.#turn, tasks, this.call, this.trace);
  }

  /** The tokens count for the turn. */
  async searchWeb(query: string): Promise<WebAnswer> {
    const { model, used, emit } = this.#turn;
    if (model.searchWeb === undefined) throw new ParleyError({ code: "tool", message: `${model.provider} has no search of the web` });
    const answer = await model.searchWeb(query, this.signal);
    if (answer.usage !== undefined) {
      used.total = addUsage(used.total, answer.usage);
      await emit({ type: "usage", scope: "call", ...costed(model.id, answer.usage, model.prices) });
    }
    return answer;
  }

  /** Emits the text that was held back for redaction. */
  close(): void {
    for (const [channel, stream] of this.#redact)
      this.#say(stream.flush(), channel === "stderr" || channel === "stdout" ? channel : undefined);
    this.#open = false;
  }

  #say(text: string, channel: "stdout" | "stderr" | undefined): void {
    if (text === "" || !this.#open || this.signal.aborted) return;
    void this.#turn.emit({ type: "tool.progress", call: this.call, text, ...(channel !== undefined && { channel }) });
  }

  #stream(channel = ""): ReturnType<Redactor["stream"]> {
    let stream = this.#redact.get(channel);
    if (stream === undefined) {
      stream = this.#turn.session.redactor.stream();
      this.#redact.set(channel, stream);
    }
    return stream;
  }
}
