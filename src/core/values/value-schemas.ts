/** Schemas of single values in files that a person writes. Every message is what the value must do ("be a list"); core/values/value-issues.ts makes the sentence. */
import * as v from "valibot";

export const anyText = v.string("be a text");
export const text = v.pipe(anyText, v.nonEmpty("be a text that is not empty"));
export const texts = v.array(text, "be a list of texts");
export const yesOrNo = v.boolean("be true or false");
export const textByName = v.record(text, anyText, "be a mapping of texts");
export const count = wholeNumber(1, Number.MAX_SAFE_INTEGER, "be a whole number from 1");

export function oneOf<const T extends readonly string[]>(options: T) {
  return v.picklist(options, options.length === 1 ? `be ${options.join()}` : `be one of ${options.join(", ")}`);
}

export function between(min: number, max: number) {
  return wholeNumber(min, max, `be a whole number from ${min} to ${max}`);
}

export function wholeNumber(min: number, max: number, message: string) {
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}
