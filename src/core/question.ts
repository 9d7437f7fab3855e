/** Questions of the model to the user, and their answers: the data of a `host.request` of kind `question` and of its answer. */
import * as v from "valibot";

const text = v.string();

const Question = v.looseObject({
  question: text,
  /** A word or two to show above the question. */
  header: v.optional(text),
  options: v.array(v.looseObject({ label: text, description: v.optional(text) })),
  /** Several options may be picked. */
  multiple: v.optional(v.boolean()),
});

export const Questions = v.looseObject({ questions: v.array(Question) });
export type Questions = v.InferOutput<typeof Questions>;

/** One answer for each question, in order. `text` is the user's own text, beside the options or in place of them. */
export const QuestionAnswers = v.looseObject({
  answers: v.array(v.looseObject({ labels: v.array(text), text: v.optional(text) })),
});
export type QuestionAnswers = v.InferOutput<typeof QuestionAnswers>;
