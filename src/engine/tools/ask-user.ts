/** AskUser: one to four questions to the user, through the host. */
import * as v from "valibot";
import { QuestionAnswers, type Questions } from "../../core/question.js";
import { oneLine } from "./title.js";
import { defineTool, textResult, type Tool, type ToolContext, type ToolResult } from "./tool.js";

/** The host's answer. */
interface Reply {
  ok: boolean;
  data?: unknown;
}

const MAX_QUESTIONS = 4;
const MAX_OPTIONS = 8;

const written = v.pipe(v.string(), v.regex(/\S/, "must not be empty"));

const Args = v.object({
  questions: v.pipe(
    v.array(
      v.object({
        question: v.pipe(written, v.description("The whole question.")),
        header: v.optional(v.pipe(v.string(), v.description("A word or two to show above it."))),
        options: v.pipe(
          v.array(v.object({ label: written, description: v.optional(v.string()) })),
          v.minLength(2, "at least 2 options"),
          v.maxLength(MAX_OPTIONS, `at most ${MAX_OPTIONS} options`),
        ),
        multiple: v.optional(v.pipe(v.boolean(), v.description("Whether more than one option may be picked."))),
      }),
    ),
    v.minLength(1, "at least 1 question"),
    v.maxLength(MAX_QUESTIONS, `at most ${MAX_QUESTIONS} questions`),
  ),
});

/** `ask` sends the questions to the host. */
export function askUserTool(ask: (data: Questions, context: ToolContext) => Promise<Reply>): Tool {
  const tool = defineTool({
    name: "AskUser",
    category: "info",
    access: "none",
    description:
      `Asks the user 1 to ${MAX_QUESTIONS} questions with options to pick from, and waits for the answers; the user may also answer in own ` +
      "words. Use it only for a decision that you cannot make yourself and that the workspace does not answer. All questions go into one call.",
    args: Args,
    title: ({ questions }) => oneLine(`Ask: ${questions.map(({ question }) => question).join(" ")}`),
    async run({ questions }, context) {
      const { ok, data } = await ask({ questions: questions.map(withoutAbsent) }, context);
      return ok ? answered(questions, data) : unanswered(data);
    },
  });
  // Runs unasked: an approval before a question would be a second question.
  return { ...tool, hosted: true };
}

type Asked = v.InferOutput<typeof Args>["questions"];

function withoutAbsent({ header, multiple, question, options }: Asked[number]): Questions["questions"][number] {
  return {
    question,
    options: options.map(({ label, description }) => ({ label, ...(description !== undefined && { description }) })),
    ...(header !== undefined && { header }),
    ...(multiple !== undefined && { multiple }),
  };
}

function answered(questions: Asked, data: unknown): ToolResult {
  const given = v.safeParse(QuestionAnswers, data);
  if (!given.success) return unanswered({ message: "the host's answer has no form that could be read" });
  const words = questions.map(({ question }, at) => {
    const { labels = [], text = "" } = given.output.answers[at] ?? {};
    const said = [...labels, ...(text === "" ? [] : [text])].join(", ");
    return `${question}\n→ ${said === "" ? "(no answer)" : said}`;
  });
  return textResult(words.join("\n\n"));
}

function unanswered(data: unknown): ToolResult {
  const told = v.safeParse(v.looseObject({ message: v.string() }), data);
  const why = told.success ? told.output.message : "the host did not say why";
  const instead =
    "Go on with the most likely reading and name your assumption at the end; where that is too risky, stop and end with the question.";
  return textResult(`Nobody answered: ${why}. Do not ask again. ${instead}`, true);
}
