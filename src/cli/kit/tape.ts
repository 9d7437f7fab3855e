/** `parley tape`: shows a recorded conversation, compares two, and checks one. */
import { difference, IGNORABLE, type Ignored } from "../../check/tape/diff.js";
import { breaches } from "../../check/tape/breaches.js";
import { page } from "../../check/tape/html.js";
import { oneLine } from "../../check/tape/one-line.js";
import { readTape, type Tape } from "../../check/tape/tape.js";
import { transcript } from "../../check/tape/transcript.js";
import { list, text, usage, type Parsed } from "../command-line/flags.js";

/** The exit code where tapes differ, or one has a breach. */
const FOUND = 3;

export async function showTape(parsed: Parsed): Promise<number> {
  const [path] = parsed.positionals;
  if (path === undefined) throw usage("Which tape? parley tape show FILE");
  const format = text(parsed, "as") ?? "text";
  const show = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (show === undefined) throw usage(`--as is ${Object.keys(FORMATS).join(", ")}, not '${format}'`);
  process.stdout.write(show(await readTape(path)));
  return 0;
}

const FORMATS: Readonly<Record<string, (tape: Tape) => string>> = { text: transcript, jsonl: canonical, html: page };

function canonical({ items }: Tape): string {
  return items
    .flatMap((item) => {
      const place = { at: item.at, ...(item.conn !== "" && { conn: item.conn }) };
      if (item.kind === "op") return [JSON.stringify({ ...place, op: item.op })];
      return item.kind === "event" ? [JSON.stringify({ ...place, event: item.event })] : [];
    })
    .map((line) => `${line}\n`)
    .join("");
}

export async function diffTapes(parsed: Parsed): Promise<number> {
  const [one, other] = parsed.positionals;
  if (one === undefined || other === undefined) throw usage("Which two tapes? parley tape diff A B");
  const ignored = (list(parsed, "ignore") ?? []).map(ignorable);
  const lines = difference(await readTape(one), await readTape(other), ignored);
  for (const line of lines) process.stdout.write(`${oneLine(line)}\n`);
  return lines.length === 0 ? 0 : FOUND;
}

function ignorable(word: string): Ignored {
  const known = IGNORABLE.find((name) => name === word);
  if (known === undefined) throw usage(`--ignore takes ${IGNORABLE.join(", ")}, not '${word}'`);
  return known;
}

export async function checkTape(parsed: Parsed): Promise<number> {
  const [path] = parsed.positionals;
  if (path === undefined) throw usage("Which tape? parley tape check FILE");
  const found = await breaches(await readTape(path));
  for (const { n, why } of found) process.stdout.write(`${oneLine(`${path}:${n}: ${why}`)}\n`);
  return found.length === 0 ? 0 : FOUND;
}
