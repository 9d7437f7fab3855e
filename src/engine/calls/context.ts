/** What a running tool has in its hands. */
import { relative } from "node:path";
import type { Mode } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import type { Answer } from "../../core/op.js";
import type { Run } from "../turn/run.js";
import type { ToolContext } from "../tools/tool.js";
import type { Trace } from "../trace/trace.js";

/** Silent once its call is over. */
export class CallContext implements ToolContext {
  readonly call: string;
  readonly signal: AbortSignal;
  readonly workspace;
  readonly seen;
  readonly outputChars: number;
  readonly redactor;
  readonly trace: Trace | undefined;
  readonly #run: Run;
  /** Where the call's paths led when it was judged. */
  readonly #judged: readonly string[];
  readonly #grant: Answer["grant"];
  readonly #redact = new Map<string, ReturnType<Run["redactor"]["stream"]>>();
  #open = true;

  constructor(run: Run, call: string, judged: readonly string[], grant: Answer["grant"], trace: Trace | undefined) {
    this.call = call;
    this.signal = run.signal;
    this.workspace = run.state.workspace;
    this.seen = run.state.seen;
    this.outputChars = run.state.outputChars;
    this.redactor = run.redactor;
    this.trace = trace;
    this.#run = run;
    this.#judged = judged;
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
    const hides = this.#run.state.permissions.hiding(tools);
    const { root } = this.workspace;
    return hides === undefined ? undefined : (path) => hides({ path, relative: relative(root, path) });
  }

  progress(text: string, channel?: "stdout" | "stderr"): void {
    if (!this.#open || this.signal.aborted) return;
    const safe = this.#stream(channel).push(text);
    this.#say(safe, channel);
  }

  adopt(child: { end(graceMs: number): Promise<void>; exited: Promise<unknown> }): void {
    const { children } = this.#run.state;
    children.add(child);
    void child.exited.finally(() => children.delete(child));
  }

  /** A yes for more than this call is a yes to the edits that follow. */
  leavePlan(): Mode {
    const mode: Mode = this.#grant === "tool" || this.#grant === "category" ? "auto_edit" : "default";
    this.#run.setMode(mode);
    return mode;
  }

  spawn: ToolContext["spawn"] = (tasks) => this.#run.spawn(this.call, tasks, this.trace);

  /** Lets go of what was held back for redaction. */
  close(): void {
    for (const [channel, stream] of this.#redact)
      this.#say(stream.flush(), channel === "stderr" || channel === "stdout" ? channel : undefined);
    this.#open = false;
  }

  #say(text: string, channel: "stdout" | "stderr" | undefined): void {
    if (text === "" || !this.#open || this.signal.aborted) return;
    void this.#run.emit({ type: "tool.progress", call: this.call, text, ...(channel !== undefined && { channel }) });
  }

  #stream(channel = ""): ReturnType<Run["redactor"]["stream"]> {
    let stream = this.#redact.get(channel);
    if (stream === undefined) {
      stream = this.#run.redactor.stream();
      this.#redact.set(channel, stream);
    }
    return stream;
  }
}
