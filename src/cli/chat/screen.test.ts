import { describe, expect, test } from "vitest";
import type { Event } from "../../core/event.js";
import { shown } from "../../core/text/terminal-text.js";
import { Screen } from "./screen.js";

const EVIL = "a\u001b]52;c;aGk=\u0007b\u001b[2Jc\u202ed\u009be\r\nf\tg";

function screen(isTTY: boolean, events: Event[]): string {
  let text = "";
  const sink = { isTTY, write: (piece: string) => void (text += piece) };
  const view = new Screen({ answer: sink, aside: sink, looks: { colour: false, unicode: true } });
  for (const event of events) view.show(event);
  return text;
}

describe("what others say does not steer the terminal", () => {
  const call = { id: "c", name: "Bash", title: EVIL };
  const events: Event[] = [
    { type: "text.delta", text: EVIL },
    { type: "text.done", text: EVIL, streamed: true },
    { type: "thinking.done", text: EVIL },
    { type: "tool.requested", call },
    { type: "tool.started", call: "c" },
    {
      type: "tool.ended",
      call: "c",
      status: "ok",
      output: [
        { type: "terminal", text: EVIL },
        { type: "todo", items: [{ text: EVIL, status: "pending" }] },
      ],
    },
    { type: "tool.ended", call: "c", status: "denied", reason: EVIL },
    { type: "notice", level: "info", text: EVIL },
    { type: "error", fault: { code: "x", message: EVIL } },
  ];

  test.each(events)("$type", (event) => {
    // oxlint-disable-next-line no-control-regex
    expect(screen(true, [{ type: "tool.requested", call }, event])).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  test("and is shown instead; a pipe gets it as it is", () => {
    expect(shown("\u001b[2J", { isTTY: true })).toBe("\\u001b[2J");
    expect(screen(false, [{ type: "text.done", text: EVIL }])).toBe(`${EVIL}\n`);
  });
});
