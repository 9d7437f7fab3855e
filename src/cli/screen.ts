/** Events as a person reads them: streamed text, dimmed thinking, a line a tool, diffs in colour. */
import type { Part } from "../core/content.js";
import type { Event, EventOf, Usage } from "../core/event.js";

export interface Sink {
  write(text: string): unknown;
  isTTY?: boolean;
}

export interface ScreenOptions {
  /** The answer. */
  answer: Sink;
  /** Everything else; may be the same. */
  aside: Sink;
  colour: boolean;
}

/** Lines of a tool's output that are worth showing. */
const OUTPUT_LINES = 12;

export class Screen {
  readonly #options: ScreenOptions;
  readonly #titles = new Map<string, string>();
  /** What the last written character leaves open, by sink. */
  #midLine: Sink | undefined;

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  show(event: Event): void {
    // What sub-agents say among themselves is their own affair; their calls are shown.
    if (event.under !== undefined && !event.type.startsWith("tool.")) return;
    switch (event.type) {
      case "text.delta":
        return this.#write(this.#options.answer, shown(event.text, this.#options.answer));
      case "text.done":
        if (event.streamed !== true) this.#write(this.#options.answer, shown(event.text, this.#options.answer));
        return this.#endLine();
      case "thinking.delta":
        return this.#write(this.#options.aside, this.#dim(event.text));
      case "thinking.done":
        if (event.streamed !== true) this.#write(this.#options.aside, this.#dim(event.text));
        return this.#endLine();
      case "tool.requested":
        this.#titles.set(event.call.id, shown(event.call.title ?? event.call.name, this.#options.aside));
        return;
      case "tool.started":
        return this.line(`${this.#paint("36", "●")} ${this.#titles.get(event.call) ?? event.call}`);
      case "tool.ended":
        return this.#ended(event);
      case "notice":
        return this.line(this.#dim(`! ${event.text}`));
      case "error":
        return this.line(this.#paint("31", `Error: ${event.fault.message}`));
      default:
    }
  }

  /** A line of ours; what others wrote in it goes through `foreign` first. */
  line(text: string): void {
    this.#endLine();
    this.#options.aside.write(`${text}\n`);
  }

  foreign(text: string): string {
    return shown(text, this.#options.aside);
  }

  diff(patch: string): void {
    for (const line of this.foreign(patch).trimEnd().split("\n")) this.line(`  ${this.#paint(diffColour(line), line)}`);
  }

  #ended(event: EventOf<"tool.ended">): void {
    const title = this.#titles.get(event.call) ?? event.call;
    if (event.status === "denied") return this.line(this.#paint("33", `  ✗ denied: ${title}${event.reason ? ` (${event.reason})` : ""}`));
    if (event.status === "cancelled") return this.line(this.#paint("33", `  ✗ cancelled: ${title}`));
    for (const part of event.output ?? []) this.#part(part, event.status === "failed");
  }

  #part(part: Part, failed: boolean): void {
    if (part.type === "diff") return this.diff(part.patch);
    if (part.type === "todo") {
      for (const item of part.items)
        this.line(`  ${item.status === "completed" ? "☑" : item.status === "in_progress" ? "◐" : "☐"} ${this.foreign(item.text)}`);
      return;
    }
    if (part.type !== "text" && part.type !== "terminal") return;
    const lines = part.text.trimEnd().split("\n");
    for (const line of lines.slice(0, OUTPUT_LINES)) this.line(failed ? this.#paint("31", `  ${line}`) : this.#dim(`  ${line}`));
    if (lines.length > OUTPUT_LINES) this.line(this.#dim(`  … ${lines.length - OUTPUT_LINES} more lines`));
  }

  #write(sink: Sink, text: string): void {
    if (text === "") return;
    if (this.#midLine !== undefined && this.#midLine !== sink) this.#endLine();
    sink.write(text);
    this.#midLine = text.endsWith("\n") ? undefined : sink;
  }

  #endLine(): void {
    this.#midLine?.write("\n");
    this.#midLine = undefined;
  }

  #dim(text: string): string {
    return this.#paint("2", text);
  }

  #paint(code: string, text: string): string {
    const safe = shown(text, this.#options.aside);
    return this.#options.colour && code !== "" ? `\u001b[${code}m${safe}\u001b[0m` : safe;
  }
}

/**
 * What a model, a tool or a file says must not steer the terminal (clear it, write to the clipboard, turn text around under an
 * approval): control and direction characters are shown instead of obeyed. A pipe gets everything as it is.
 */
export function shown(text: string, sink: Sink): string {
  if (sink.isTTY !== true) return text;
  return text.replace(/\r\n?/g, "\n").replace(STEERING, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// oxlint-disable-next-line no-control-regex
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

function diffColour(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---")) return "1";
  if (line.startsWith("+")) return "32";
  if (line.startsWith("-")) return "31";
  return line.startsWith("@@") ? "36" : "";
}

export function usageLine(usage: Usage | undefined): string {
  if (usage === undefined) return "no usage was reported";
  const cached = usage.cacheRead === undefined || usage.cacheRead === 0 ? "" : `, ${usage.cacheRead} read from cache`;
  return `${usage.input} tokens in${cached}, ${usage.output + (usage.reasoning ?? 0)} tokens out`;
}

/** An answer that cannot be written is told once, and by the exit code; a reader that has left is no reason to complain. */
export function watchOutput(): void {
  let isLost = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isLost || error.code === "EPIPE") return;
    isLost = true;
    process.stderr.write(`parley: The output cannot be written: ${error.message}\n`);
    process.once("exit", () => {
      process.exitCode ||= 1;
    });
  });
}

/** NO_COLOR and dumb terminals are respected. */
export function wantsColour(stream: { isTTY?: boolean }, env: Record<string, string | undefined>): boolean {
  return stream.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}
