/** The conversation so far: events become blocks, each of which changes as its events come. */
import { Container, Spacer, type Component, type MarkdownTheme } from "@earendil-works/pi-tui";
import { plainText, type Part } from "../../../core/content.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Theme } from "../theme.js";
import type { Tone } from "../view.js";
import { AnswerBlock, Block, TextBlock, ThinkingBlock } from "./blocks.js";
import { foreign, partRows } from "./part-rows.js";
import { ToolBlock } from "./tool-block.js";

/** The oldest blocks beyond it leave the memory; what they drew stays in the terminal's own history as long as that does. */
const MOST_BLOCKS = 4000;

export class Transcript extends Container {
  /** Whether everything that is folded is shown whole. */
  isUnfolded = false;
  readonly #theme: Theme;
  readonly #markdown: MarkdownTheme;
  readonly #calls = new Map<string, ToolBlock>();
  #answer: AnswerBlock | undefined;
  #thinking: ThinkingBlock | undefined;

  constructor(theme: Theme, markdown: MarkdownTheme) {
    super();
    this.#theme = theme;
    this.#markdown = markdown;
  }

  unfold(): void {
    this.isUnfolded = !this.isUnfolded;
    this.invalidate();
  }

  /** The title of a call that was requested. */
  titleOf(call: string): string | undefined {
    return this.#calls.get(call)?.title;
  }

  say(tone: Tone, text: string): void {
    const mark = tone === "warning" ? "! " : tone === "error" ? "Error: " : "";
    const paint = (row: string): string => (tone === "plain" ? row : this.#theme.paint(tone, row));
    this.#add(new TextBlock(foreign(text), paint, mark));
  }

  prompted(text: string): void {
    this.#add(new TextBlock(foreign(text), (row) => this.#theme.paint("user", row), "> "));
  }

  parts(parts: readonly Part[]): void {
    for (const part of parts) this.#add(new PartBlock(part, this.#theme, () => this.isUnfolded));
  }

  /** Only the calls of sub-agents are shown, not their words. */
  show(event: Event): void {
    if (event.under !== undefined && !event.type.startsWith("tool.")) return;
    switch (event.type) {
      case "text.delta":
        return this.#text(event.text);
      case "text.done":
        if (event.streamed !== true) this.#text(event.text);
        this.#endAnswer();
        return;
      case "thinking.delta":
        return this.#think(event.text);
      case "thinking.done":
        if (event.streamed !== true) this.#think(event.text);
        this.#thinking?.end();
        this.#thinking = undefined;
        return;
      case "tool.requested":
        return this.#requested(event);
      case "tool.started":
        return this.#calls.get(event.call)?.start();
      case "tool.progress":
        return this.#calls.get(event.call)?.print(event.text ?? "");
      case "tool.ended":
        return this.#ended(event);
      case "user.message":
        return this.prompted(plainText(event.parts));
      case "compaction":
        // The agent's notice already shows the failure.
        if (event.phase !== "failed") this.say("aside", compactionText(event));
        return;
      case "notice":
        return this.#notice(event);
      case "error":
        return this.say("error", event.fault.message);
      case "turn.ended":
        return this.#turnEnded(event);
      case "session.ready":
      case "session.updated":
      case "session.ended":
      case "session.changed":
      case "closed":
      case "turn.started":
      case "tool.delta":
      case "approval.requested":
      case "approval.settled":
      case "host.request":
      case "host.settled":
      case "usage":
      case "catalog.updated":
      case "reply":
      case "other":
        return;
      default:
        event satisfies never;
    }
  }

  #text(text: string): void {
    if (this.#answer === undefined) {
      if (text.trim() === "") return;
      this.#answer = new AnswerBlock(this.#markdown);
      this.#add(this.#answer);
    }
    this.#answer.add(foreign(text));
  }

  #endAnswer(): void {
    this.#answer?.end();
    this.#answer = undefined;
  }

  #think(text: string): void {
    if (this.#thinking === undefined) {
      if (text.trim() === "") return;
      this.#thinking = new ThinkingBlock(this.#theme, () => this.isUnfolded);
      this.#add(this.#thinking);
    }
    this.#thinking.add(foreign(text));
  }

  #requested({ call, under }: EventOf<"tool.requested">): void {
    const block = new ToolBlock(call, under !== undefined, this.#theme, () => this.isUnfolded);
    this.#calls.set(call.id, block);
    this.#add(block);
  }

  #ended(event: EventOf<"tool.ended">): void {
    this.#calls.get(event.call)?.end(event);
    this.#calls.delete(event.call);
  }

  #notice({ level, text }: EventOf<"notice">): void {
    if (level === "debug") return;
    this.say(level === "info" ? "aside" : level, text);
  }

  #turnEnded({ outcome, finish, usage }: EventOf<"turn.ended">): void {
    this.#endAnswer();
    this.#thinking = undefined;
    const tokens =
      usage === undefined ? [] : [`${usage.input + (usage.cacheRead ?? 0)} tokens in, ${usage.output + (usage.reasoning ?? 0)} out`];
    const how = outcome === "completed" ? (finish === undefined || finish === "stop" ? [] : [finish]) : [outcome];
    const words = [...how, ...tokens];
    if (words.length > 0) this.say(outcome === "completed" ? "aside" : "warning", `(${words.join("; ")})`);
  }

  #add(block: Component): void {
    if (this.children.length > 0) this.addChild(new Spacer(1));
    this.addChild(block);
    if (this.children.length > 2 * MOST_BLOCKS) this.children.splice(0, MOST_BLOCKS);
  }
}

class PartBlock extends Block {
  readonly #part: Part;
  readonly #theme: Theme;
  readonly #isUnfolded: () => boolean;

  constructor(part: Part, theme: Theme, isUnfolded: () => boolean) {
    super();
    this.#part = part;
    this.#theme = theme;
    this.#isUnfolded = isUnfolded;
  }

  protected draw(width: number): string[] {
    return partRows(this.#part, { theme: this.#theme, width, isUnfolded: this.#isUnfolded() });
  }
}

function compactionText({ phase, before, after }: EventOf<"compaction">): string {
  if (phase === "started") return "The conversation is summed up, so that it fits the model";
  const figures = before === undefined || after === undefined ? "" : ` (about ${before} tokens before, ${after} now)`;
  return `The conversation was summed up${figures}`;
}
