/** Questions to the user in the form of the tool that asks them: its input, and the answers that come back with it. */
import * as v from "valibot";
import type { QuestionAnswers, Questions } from "../../../core/question.js";
import { isRecord } from "../../../core/values/json-object.js";
import { pickedIn, wordsOf } from "../user-answers.js";

const text = v.string();

const Input = v.looseObject({
  questions: v.array(
    v.looseObject({
      question: text,
      header: v.nullish(text),
      options: v.nullish(v.array(v.looseObject({ label: text, description: v.nullish(text) }))),
      multiSelect: v.nullish(v.boolean()),
    }),
  ),
});

type Args = Record<string, unknown>;

export function inputOf({ questions }: Questions): Args {
  return {
    questions: questions.map(({ question, header = "", options, multiple = false }) => ({
      question,
      header,
      options: options.map(({ label, description = "" }) => ({ label, description })),
      multiSelect: multiple,
    })),
  };
}

/** Undefined for an input of another form, and for one that asks nothing. */
export function questionsIn(input: Args): Questions | undefined {
  if (!v.is(Input, input) || input.questions.length === 0) return undefined;
  return {
    questions: input.questions.map(({ question, header, options, multiSelect }) => ({
      question,
      ...(header != null && { header }),
      options: (options ?? []).map(({ label, description }) => ({ label, ...(description != null && { description }) })),
      ...(multiSelect != null && { multiple: multiSelect }),
    })),
  };
}

/** Hosts give an answer to each question by its words or its place; several labels are apart by commas. */
export function answersIn({ answers }: Args, { questions }: Questions): QuestionAnswers {
  const given = isRecord(answers) ? answers : {};
  return {
    answers: questions.map(({ question, options, multiple }, at) => {
      const words = given[question] ?? given[String(at)];
      const all = Array.isArray(words)
        ? words.map(String)
        : typeof words !== "string"
          ? []
          : multiple === true
            ? words.split(/,\s*/)
            : [words];
      return pickedIn(all, options);
    }),
  };
}

export function withAnswers(input: Args, { questions }: Questions, { answers }: QuestionAnswers): Args {
  const said = questions.map(({ question }, at) => [question, wordsOf(answers[at]).join(", ")] as const);
  return { ...input, answers: Object.fromEntries(said) };
}
