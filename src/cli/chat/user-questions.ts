/** The model's questions to the user at a terminal: options by their numbers, or an answer in own words. */
import * as v from "valibot";
import { Questions, type QuestionAnswers } from "../../core/question.js";
import type { Asker } from "./asker.js";
import type { Screen } from "./screen.js";

type Question = Questions["questions"][number];
type Answered = QuestionAnswers["answers"][number];

/** Undefined when the questions were withdrawn, the terminal was closed, or the data are no questions. */
export async function askQuestions(data: unknown, asker: Asker, screen: Screen, signal: AbortSignal): Promise<QuestionAnswers | undefined> {
  const asked = v.safeParse(Questions, data);
  if (!asked.success) return undefined;
  const answers: Answered[] = [];
  for (const question of asked.output.questions) {
    show(question, screen);
    const many = question.multiple === true ? "numbers with commas" : "a number";
    const reply = await asker.ask(`Your answer (${many}, or your own words): `, signal);
    if (reply === undefined) return undefined;
    answers.push(readAnswer(question, reply));
  }
  return { answers };
}

function show({ question, header, options }: Question, screen: Screen): void {
  screen.line(screen.foreign(header === undefined ? question : `${header}: ${question}`));
  for (const [at, { label, description }] of options.entries())
    screen.line(screen.foreign(`  ${at + 1}. ${label}${description === undefined ? "" : ` (${description})`}`));
}

/** Numbers of options where the whole reply is such, else words. */
function readAnswer({ options, multiple }: Question, reply: string): Answered {
  const words = reply.trim();
  const picked = words.split(/[\s,]+/).map((word) => (/^\d+$/.test(word) ? options[Number(word) - 1]?.label : undefined));
  const labels = picked.flatMap((label) => label ?? []);
  const isPick = labels.length === picked.length && (labels.length === 1 || multiple === true);
  if (isPick) return { labels };
  const named = options.find(({ label }) => label.toLowerCase() === words.toLowerCase());
  return named === undefined ? { labels: [], text: words } : { labels: [named.label] };
}
