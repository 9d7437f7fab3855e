/** A user's answer to one question, on wires that carry it as words: labels of options, and the user's own text. */
import type { QuestionAnswers } from "../../core/question.js";

type Answer = QuestionAnswers["answers"][number];

export function wordsOf({ labels = [], text }: Partial<Answer> = {}): string[] {
  return text === undefined ? labels : [...labels, text];
}

export function pickedIn(words: readonly string[], options: readonly { label: string }[]): Answer {
  const labels = words.filter((word) => options.some(({ label }) => label === word));
  const own = words.filter((word) => word !== "" && !labels.includes(word));
  return { labels, ...(own.length > 0 && { text: own.join("\n") }) };
}
