/** Finds masks in text that a model writes. A mask stands for a secret that the model was not shown; writing it would destroy the secret. */
import { textPart, type PartOf } from "../../../core/content.js";
import { MASKS, type Redactor } from "../../../core/secrets/redact.js";
import { linesOf } from "./text-file.js";

/** The reason against writing the text in place of `before` (null for a new file); undefined if there is none. */
export function maskProblem(name: string, before: string | null, after: string, redactor: Redactor): string | undefined {
  const mask =
    masksOf(redactor).find((each) => occurrences(after, each) > occurrences(before ?? "", each)) ?? maskInPlace(before, after, redactor);
  if (mask === undefined) return undefined;
  return (
    `${name} was not written: the text holds "${mask}", which stands for a secret that is not shown to you and would be lost. ` +
    "Change the other lines alone, and leave the line that holds it as it is; copy or move what holds it with Bash. " +
    "Where these letters themselves are meant, write them with Bash, too."
  );
}

/** The reason for which text to replace is not found, if a mask in it is the reason. */
export function maskedQuote(name: string, quote: string, redactor: Redactor, quoted = "old_string"): string | undefined {
  const mask = masksOf(redactor).find((each) => quote.includes(each));
  if (mask === undefined) return undefined;
  return (
    `${quoted} not found in file ${name}: it holds "${mask}", which stands for a secret that is not shown to you. ` +
    "Quote only text beside it; the rest of its line stays as it is."
  );
}

/** A note for people who see a diff in which two secrets look alike. */
export function lossNote(before: string | null | undefined, after: string, redactor: Redactor): PartOf<"text">[] {
  const lost = lostSecrets(before ?? "", after, redactor);
  if (lost === 0) return [];
  return [textPart(`(${lost === 1 ? "1 secret" : `${lost} secrets`} of the file, shown as ${redactor.mask}, will not be in it any more)`)];
}

/** The present mask, and earlier ones that a conversation may still contain. */
function masksOf({ mask }: Redactor): readonly string[] {
  return MASKS.slice(0, MASKS.findIndex((each) => each === mask) + 1);
}

/** The number of masks is unchanged, but one of them stands in a secret's place. */
function maskInPlace(before: string | null, after: string, redactor: Redactor): string | undefined {
  if (before === null || lostSecrets(before, after, redactor) === 0) return undefined;
  const old = new Set(linesOf(before));
  const added = linesOf(after).filter((line) => !old.has(line));
  return masksOf(redactor).find((mask) => added.some((line) => line.includes(mask)));
}

function lostSecrets(before: string, after: string, redactor: Redactor): number {
  const left = counted(after, redactor);
  let lost = 0;
  for (const [secret, times] of counted(before, redactor)) lost += Math.max(0, times - (left.get(secret) ?? 0));
  return lost;
}

function counted(text: string, redactor: Redactor): Map<string, number> {
  const found = new Map<string, number>();
  for (const { from, to } of redactor.ranges(text)) {
    const secret = text.slice(from, to);
    found.set(secret, (found.get(secret) ?? 0) + 1);
  }
  return found;
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}
