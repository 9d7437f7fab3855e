/** A list to pick from where no chat is open: the chat's own list, or a numbered one where the terminal can only print. */
import { askOnce } from "../command-line/ask-once.js";
import { PlainQuestions } from "./plain-questions.js";
import { Screen } from "./screen.js";
import { looksFor, looksOf } from "./theme.js";
import type { Choice } from "./view.js";

/** The value that the user picks; undefined where none is picked. Ctrl-C leaves. Standard output may be a pipe; the list is not for it. */
export async function pickAlone(
  title: string,
  choices: readonly Choice[],
  env: Record<string, string | undefined>,
): Promise<string | undefined> {
  if (env["TERM"] === "dumb" || !process.stdout.isTTY) {
    const screen = new Screen({ answer: process.stderr, aside: process.stderr, looks: looksFor(process.stderr, env) });
    return new PlainQuestions(screen, askOnce).pick(title, choices, new AbortController().signal);
  }
  const { pickInList } = await import("./terminal/lone-picker.js");
  return pickInList(title, choices, looksOf(env));
}
