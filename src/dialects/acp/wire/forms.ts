/** Questions of an agent to its user, and the forms that carry them on the wire. */
import * as v from "valibot";
import type { ElicitationParams, Property } from "./requests.js";

const text = v.string();

/** The data of a `host.request` of kind "question". */
const Questions = v.looseObject({
  questions: v.array(
    v.looseObject({
      question: text,
      header: v.optional(text),
      options: v.optional(v.array(v.looseObject({ label: text, description: v.optional(text) }))),
      multiple: v.optional(v.boolean()),
    }),
  ),
});
type Question = v.InferOutput<typeof Questions>["questions"][number];

const Answers = v.looseObject({ answers: v.array(v.looseObject({ labels: v.optional(v.array(text)), text: v.optional(text) })) });

/** Questions as a form. The name of a field has the number of its question. */
export function formOf(data: unknown): { message: string; requestedSchema: object } | undefined {
  if (!v.is(Questions, data)) return undefined;
  const { questions } = data;
  const fields = questions.map((question, at) => [fieldName(at), fieldOf(question)] as const);
  return {
    message: questions.map(({ question }) => question).join("\n"),
    requestedSchema: { type: "object", properties: Object.fromEntries(fields), required: fields.map(([name]) => name) },
  };
}

function fieldName(at: number): string {
  return `answer${at + 1}`;
}

function fieldOf({ question, header, options = [], multiple }: Question): object {
  const head = { title: header ?? question, description: question };
  const choices = options.map(({ label, description }) => ({
    const: label,
    title: label,
    ...(description !== undefined && { description }),
  }));
  if (choices.length === 0) return { type: "string", ...head };
  return multiple === true ? { type: "array", ...head, items: { anyOf: choices } } : { type: "string", ...head, oneOf: choices };
}

export function answersOf(data: unknown, content: Readonly<Record<string, unknown>>): { labels: string[]; text?: string }[] {
  const questions = v.is(Questions, data) ? data.questions : [];
  return questions.map(({ options = [] }, at) => {
    const value = content[fieldName(at)];
    const values: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    const given = values.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
    const labels = given.filter((word) => options.some(({ label }) => label === word));
    const [free] = given.filter((word) => !labels.includes(word));
    return { labels, ...(free !== undefined && { text: free }) };
  });
}

// --- as the client ---

/** The fields of a form as questions. */
export function questionsOf({ message, requestedSchema }: ElicitationParams): unknown {
  const fields = Object.entries(requestedSchema?.properties ?? {});
  if (fields.length === 0) return { questions: [{ question: message, options: [{ label: "OK" }] }] };
  const isOnly = fields.length === 1;
  return {
    questions: fields.map(([name, field]) => ({
      question: isOnly ? message : (field.description ?? field.title ?? name),
      header: field.title ?? name,
      options: optionsOf(field).map(({ label, description }) => ({ label, ...(description !== undefined && { description }) })),
      multiple: field.type === "array",
    })),
  };
}

interface Choice {
  label: string;
  value: unknown;
  description?: string;
}

function optionsOf({ type, enum: words, oneOf, items }: Property): Choice[] {
  if (type === "boolean") {
    return [
      { label: "Yes", value: true },
      { label: "No", value: false },
    ];
  }
  const titled = oneOf ?? items?.anyOf ?? [];
  if (titled.length > 0) {
    return titled.map(({ const: value, title, description }) => ({
      label: title ?? value,
      value,
      ...(description != null && { description }),
    }));
  }
  return (words ?? items?.enum ?? []).map((value) => ({ label: value, value }));
}

/** The content of an accepted form; undefined if the data has no answers. */
export function contentOf({ requestedSchema }: ElicitationParams, data: unknown): Record<string, unknown> | undefined {
  if (!v.is(Answers, data)) return undefined;
  const fields = Object.entries(requestedSchema?.properties ?? {});
  const values = fields.flatMap(([name, field], at): [string, unknown][] => {
    const { labels = [], text: free } = data.answers[at] ?? {};
    const options = optionsOf(field);
    const chosen = labels.map((label) => options.find((option) => option.label === label)?.value ?? label);
    if (field.type === "array") return [[name, [...chosen, ...(free === undefined ? [] : [free])]]];
    const [value = free] = chosen;
    return value === undefined ? [] : [[name, typed(value, field.type)]];
  });
  return Object.fromEntries(values);
}

function typed(value: unknown, type: string): unknown {
  if ((type !== "number" && type !== "integer") || typeof value !== "string") return value;
  const number = Number(value);
  return Number.isNaN(number) ? value : number;
}
