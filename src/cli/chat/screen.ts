/** Shows events to a person: streamed text, dimmed thinking, one line a tool with its output, diffs in colour. */
import type { Part } from "../../core/content.js";
import { plainText } from "../../core/content.js";
import type { Event, EventOf, Usage } from "../../core/event.js";
import { shown } from "../../core/text/terminal-text.js";
import { callTitle } from "./call-title.js";
import { inAscii, Theme, type Looks, type Role, type ThemeName } from "./theme.js";
import { moreLines, ToolLines } from "./tool-lines.js";

export interface Sink {
  write(text: string): unknown;
  isTTY?: boolean;
  /** The characters of a terminal's line; 0 when the terminal does not say. */
  columns?: number;
}

export interface ScreenOptions {
  /** The sink of the answer. */
  answer: Sink;
  /** The sink of everything else; may be the same. */
  aside: Sink;
  looks: Looks;
  theme?: ThemeName | undefined;
  /** Show the output of running tools. */
  progress?: boolean;
}

/** The first and the last lines of a tool's output are shown, so many of each. */
const END_LINES = 6;
const DEFAULT_WIDTH = 80;

export class Screen {
  readonly #options: ScreenOptions;
  readonly #titles = new Map<string, string>();
  readonly #toolLines = new ToolLines(END_LINES);
  readonly #theme: Theme;
  /** Whether the last written character left a line open, by sink. */
  #midLine: Sink | undefined;
  /** The indent of the lines of sub-agents. */
  #inset = "";

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.#theme = new Theme(options.looks, options.theme);
  }

  get theme(): ThemeName {
    return this.#theme.name;
  }

  /** False when the theme does not exist. */
  setTheme(name: string): boolean {
    return this.#theme.set(name);
  }

  get width(): number {
    return this.#options.aside.columns || DEFAULT_WIDTH;
  }

  show(event: Event): void {
    // Only the calls of sub-agents are shown, not their words.
    if (event.under !== undefined && !event.type.startsWith("tool.")) return;
    this.#inset = event.under === undefined ? "" : "  ";
    this.#show(event);
    this.#inset = "";
  }

  #show(event: Event): void {
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
        this.#titles.set(event.call.id, shown(callTitle(event.call), this.#options.aside));
        return;
      case "tool.started":
        return this.line(`${this.#paint("accent", "●")} ${this.#titles.get(event.call) ?? event.call}`);
      case "tool.progress":
        if (this.#options.progress === true) for (const line of this.#toolLines.take(event)) this.line(this.#dim(`  │ ${line}`));
        return;
      case "tool.ended":
        return this.#ended(event);
      case "user.message":
        return this.line(`> ${this.foreign(plainText(event.parts))}`);
      case "compaction":
        // The agent's notice already shows the failure.
        if (event.phase !== "failed") this.line(this.#dim(compactionText(event)));
        return;
      case "notice":
        return this.#notice(event);
      case "error":
        return this.error(event.fault.message);
      case "session.ready":
      case "session.updated":
      case "session.ended":
      case "session.changed":
      case "closed":
      case "turn.started":
      case "turn.ended":
      case "tool.delta":
      case "approval.requested":
      case "approval.settled":
      case "host.request":
      case "host.settled":
      case "usage":
      case "catalog.updated":
      case "reply":
      case "other":
        break;
      default:
        event satisfies never;
    }
  }

  /** Writes a dimmed line. */
  aside(text: string): void {
    this.line(this.#dim(text));
  }

  warning(text: string): void {
    this.line(this.#paint("warning", `! ${text}`));
  }

  error(message: string): void {
    this.line(this.#paint("error", `Error: ${message}`));
  }

  /** Writes to the terminal's clipboard, where it has one. */
  copy(text: string): void {
    if (this.#options.aside.isTTY !== true) return this.line(text);
    this.#options.aside.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
    this.line(`Copied ${text.length} characters.`);
  }

  parts(parts: readonly Part[]): void {
    for (const part of parts) this.#part(part, false);
  }

  /** Writes a line of ours; `foreign` escapes others' words in it first. */
  line(text: string): void {
    this.#endLine();
    const inset = text.replace(/^/gm, this.#inset);
    this.#options.aside.write(`${this.#theme.looks.unicode ? inset : inAscii(inset)}\n`);
  }

  foreign(text: string): string {
    return shown(text, this.#options.aside);
  }

  diff(patch: string): void {
    for (const line of this.foreign(patch).trimEnd().split("\n")) this.line(`  ${this.#paint(diffRole(line), line)}`);
  }

  #notice({ level, text }: EventOf<"notice">): void {
    if (level === "debug") return;
    if (level === "info") this.aside(`· ${text}`);
    else if (level === "warning") this.warning(text);
    else this.error(text);
  }

  #ended(event: EventOf<"tool.ended">): void {
    const title = this.#titles.get(event.call) ?? event.call;
    const { shown: isShown, rest } = this.#toolLines.end(event.call);
    if (event.status === "denied")
      return this.line(this.#paint("warning", `  ✗ denied: ${title}${event.reason ? ` (${event.reason})` : ""}`));
    if (event.status === "cancelled") return this.line(this.#paint("warning", `  ✗ cancelled: ${title}`));
    for (const line of rest) this.line(this.#dim(`  ${line}`));
    const isFailed = event.status === "failed";
    for (const part of (event.output ?? []).flatMap((each) => (isShown ? unseen(each, isFailed) : [each]))) this.#part(part, isFailed);
  }

  #part(part: Part, failed: boolean): void {
    if (part.type === "diff") return this.diff(part.patch);
    if (part.type === "todo") {
      if (part.items.length === 0) this.line(this.#dim("  (the todo list is empty)"));
      for (const item of part.items)
        this.line(`  ${item.status === "completed" ? "☑" : item.status === "in_progress" ? "◐" : "☐"} ${this.foreign(item.text)}`);
      return;
    }
    // The plan is shown in full, because the user approves it.
    if (part.type === "plan") return this.line(this.foreign(part.text.trimEnd().replace(/^/gm, "  ")));
    if (part.type !== "text" && part.type !== "terminal") return;
    for (const line of endsOf(part.text.trimEnd().split("\n")))
      this.line(failed ? this.#paint("error", `  ${line}`) : this.#dim(`  ${line}`));
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
    return this.#paint("aside", text);
  }

  #paint(role: Role | undefined, text: string): string {
    const safe = shown(text, this.#options.aside);
    return role === undefined ? safe : this.#theme.paint(role, safe);
  }
}

function endsOf(lines: readonly string[]): readonly string[] {
  const more = lines.length - 2 * END_LINES;
  return more <= 0 ? lines : [...lines.slice(0, END_LINES), moreLines(more), ...lines.slice(-END_LINES)];
}

/** Output that was printed during the call is not shown again; a failed command shows its first line. */
function unseen(part: Part, isFailed: boolean): Part[] {
  if (part.type === "terminal") return isFailed ? [{ ...part, text: part.text.split("\n", 1)[0] ?? "" }] : [];
  return part.type === "text" && !isFailed ? [] : [part];
}

function diffRole(line: string): Role | undefined {
  if (line.startsWith("+++") || line.startsWith("---")) return "heading";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return line.startsWith("@@") ? "hunk" : undefined;
}

function compactionText({ phase, before, after }: EventOf<"compaction">): string {
  if (phase === "started") return "· The conversation is summed up, so that it fits the model";
  const figures = before === undefined || after === undefined ? "" : ` (about ${before} tokens before, ${after} now)`;
  return `· The conversation was summed up${figures}`;
}

/** The outcome of a turn, and its usage. */
export function endLine({ outcome, usage }: EventOf<"turn.ended">): string {
  return usage === undefined ? `(${outcome})` : `(${outcome}; ${usageLine(usage)})`;
}

export function usageLine(usage: Usage | undefined): string {
  if (usage === undefined) return "no usage was reported";
  const cached = usage.cacheRead === undefined || usage.cacheRead === 0 ? "" : `, ${usage.cacheRead} read from cache`;
  return `${usage.input} tokens in${cached}, ${usage.output + (usage.reasoning ?? 0)} tokens out`;
}
