/** The terminal as a platform: a line on stdin is a message, answers go to stdout. One chat, one sender. */
import * as v from "valibot";
import { shown } from "../../core/text/terminal-text.js";
import { FrameReader } from "../../os/lines.js";
import { kindOf } from "./kind.js";
import type { Inbox, Platform } from "./platform.js";

const CHAT = "console";

export const consoleKind = kindOf({
  settings: v.strictObject({ type: v.literal("console", "be console") }),
  allow: [CHAT],
  open: () => Promise.resolve(consolePlatform(process.stdin, process.stdout)),
});

function consolePlatform(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Platform {
  /** Whether the last output ended its line. */
  let atLineStart = true;
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => output.write(shown(text, output), (error) => (error ? reject(error) : resolve())));
  const endLine = async (): Promise<void> => {
    if (!atLineStart) await write("\n");
    atLineStart = true;
  };
  return {
    // A streamed answer has no line end of its own.
    limits: { text: 64 * 1024, wantsEnds: true },
    start(inbox) {
      void read(input, inbox);
      return Promise.resolve();
    },
    async send({ text, kind, repeated }) {
      if (kind === "end") {
        await endLine();
        return { status: "sent" };
      }
      const whole = kind === "partial" ? text : `${text}${text.endsWith("\n") ? "" : "\n"}`;
      await write(`${kind === "partial" || atLineStart ? "" : "\n"}${repeated ? "(again) " : ""}${whole}`);
      atLineStart = whole.endsWith("\n");
      return { status: "sent" };
    },
    pause() {
      input.destroy();
      return Promise.resolve();
    },
    stop: endLine,
  };
}

/** A line waits until the previous line is accepted. */
async function read(input: NodeJS.ReadStream, inbox: Inbox): Promise<void> {
  const lines = new FrameReader("text");
  const take = async (frames: ReturnType<FrameReader["push"]>): Promise<void> => {
    for (const frame of frames) {
      if ("bad" in frame) inbox.log(frame.bad);
      else if ("rec" in frame && typeof frame.rec === "string" && frame.rec.trim() !== "") {
        await inbox.accept({ chat: CHAT, from: CHAT, text: frame.rec });
      }
    }
  };
  try {
    for await (const chunk of input) await take(lines.push(Buffer.from(chunk)));
    await take(lines.end());
    inbox.ended();
  } catch {
    // Reading has stopped for good, or the journal has failed, which the bridge reports.
  }
}
