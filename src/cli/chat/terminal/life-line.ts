/** The line of life while something is under way: what happens now, for how long, and how much came. */
import { truncateToWidth, visibleWidth, type Component } from "@earendil-works/pi-tui";
import type { Event } from "../../../core/event.js";
import type { Theme } from "../theme.js";

const FRAME_MS = 100;
const CHARS_A_TOKEN = 4;
const LEAST_WHAT = 12;

export class LifeLine implements Component {
  readonly #theme: Theme;
  readonly #redraw: () => void;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #frame = 0;
  #what = "";
  /** Tokens that were counted, and characters that came since. */
  #tokens = 0;
  #chars = 0;
  #isWaiting = false;

  constructor(theme: Theme, redraw: () => void) {
    this.#theme = theme;
    this.#redraw = redraw;
  }

  get isOn(): boolean {
    return this.#timer !== undefined;
  }

  set isOn(isOn: boolean) {
    if (isOn === (this.#timer !== undefined)) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#what = "Waiting for the model";
    [this.#tokens, this.#chars, this.#isWaiting] = [0, 0, false];
    if (!isOn) return;
    this.#since = performance.now();
    this.#timer = setInterval(() => {
      this.#frame++;
      this.#redraw();
    }, FRAME_MS);
    this.#timer.unref();
  }

  /** `titleOf` finds the title of a call. */
  follow(event: Event, titleOf: (call: string) => string | undefined): void {
    if (event.type === "text.delta" || event.type === "thinking.delta") this.#chars += event.text.length;
    if (event.type === "usage" && event.scope === "call") {
      this.#tokens += event.usage.output + (event.usage.reasoning ?? 0);
      this.#chars = 0;
    }
    const what = activityOf(event, titleOf);
    if (what === undefined) return;
    this.#what = what;
    this.#isWaiting = event.type === "approval.requested" || event.type === "host.request";
  }

  /** Whether the user is waited for. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  render(width: number): string[] {
    const since = performance.now() - this.#since;
    // Work that is over at once needs no word.
    if (this.#timer === undefined || since < FRAME_MS) return [];
    const { marks } = this.#theme;
    const spin = marks.spin[this.#frame % marks.spin.length] ?? "";
    const tokens = this.#tokens + Math.round(this.#chars / CHARS_A_TOKEN);
    const seconds = Math.round(since / 1000);
    const facts = [`${seconds} s`, ...(tokens > 0 ? [tokens === 1 ? "1 token" : `${tokens} tokens`] : []), "Esc to interrupt"].join(
      ` ${marks.dot} `,
    );
    // A long command gives way to them.
    const room = Math.max(LEAST_WHAT, width - visibleWidth(`${spin}  (${facts})`));
    const what = truncateToWidth(this.#what, room, marks.more);
    const line = `${this.#theme.paint("accent", spin)} ${what} ${this.#theme.paint("aside", `(${facts})`)}`;
    return ["", truncateToWidth(line, width, marks.more)];
  }

  invalidate(): void {
    // It is drawn anew each time.
  }
}

function activityOf(event: Event, titleOf: (call: string) => string | undefined): string | undefined {
  switch (event.type) {
    case "thinking.delta":
      return "Thinking";
    case "text.delta":
      return "Writing";
    case "tool.delta":
      return "Preparing a call";
    case "tool.started":
      return titleOf(event.call);
    case "tool.ended":
      return "Waiting for the model";
    case "approval.requested":
    case "host.request":
      return "Waiting for your answer";
    case "compaction":
      return event.phase === "started" ? "Summing up the conversation" : "Waiting for the model";
    case "notice":
      return event.kind === "retry" ? "Waiting to ask again" : undefined;
    case "session.ready":
    case "session.updated":
    case "session.ended":
    case "session.changed":
    case "closed":
    case "turn.started":
    case "turn.ended":
    case "text.done":
    case "thinking.done":
    case "user.message":
    case "tool.requested":
    case "tool.progress":
    case "approval.settled":
    case "host.settled":
    case "usage":
    case "catalog.updated":
    case "reply":
    case "error":
    case "other":
      return undefined;
    default:
      event satisfies never;
      return undefined;
  }
}
