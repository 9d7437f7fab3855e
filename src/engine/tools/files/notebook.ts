/** Jupyter notebooks as cells: the source of each cell, and the text of its outputs. */
import * as v from "valibot";

const Text = v.union([v.string(), v.array(v.string())]);

const Output = v.looseObject({
  output_type: v.string(),
  text: v.optional(Text),
  data: v.optional(v.record(v.string(), v.unknown())),
  ename: v.optional(v.string()),
  evalue: v.optional(v.string()),
  traceback: v.optional(v.array(v.string())),
});
type Output = v.InferOutput<typeof Output>;

const Notebook = v.looseObject({
  cells: v.array(v.looseObject({ cell_type: v.string(), source: Text, outputs: v.optional(v.array(Output)) })),
});

/** The most lines of output to show of each cell. */
const OUTPUT_LINES = 100;

/** Undefined if the text is no notebook. */
export function notebookLines(text: string): string[] | undefined {
  const notebook = v.safeParse(Notebook, json(text));
  if (!notebook.success) return undefined;
  const { cells } = notebook.output;
  return cells.flatMap(({ cell_type, source, outputs = [] }, at) => [
    `--- cell ${at + 1} of ${cells.length} (${cell_type}) ---`,
    ...linesIn(source),
    ...outputLines(outputs),
  ]);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

function outputLines(outputs: readonly Output[]): string[] {
  if (outputs.length === 0) return [];
  const lines = outputs.flatMap(linesOfOutput);
  const left = lines.length - OUTPUT_LINES;
  const shown = left > 0 ? [...lines.slice(0, OUTPUT_LINES), `(${left} more lines of output; Grep finds text in them)`] : lines;
  return ["--- output ---", ...shown];
}

function linesOfOutput({ output_type, text, data = {}, ename = "", evalue = "", traceback = [] }: Output): string[] {
  if (output_type === "error") return [`${ename}: ${evalue}`, ...traceback.flatMap((line) => linesIn(withoutColours(line)))];
  if (text !== undefined) return linesIn(text);
  const plain = v.safeParse(Text, data["text/plain"]);
  const others = Object.keys(data).filter((kind) => kind.startsWith("image/"));
  return [...(plain.success ? linesIn(plain.output) : []), ...others.map((kind) => `(${kind}, not shown)`)];
}

function linesIn(text: string | readonly string[]): string[] {
  const whole = typeof text === "string" ? text : text.join("");
  return whole === "" ? [] : whole.replace(/\n$/, "").split("\n");
}

function withoutColours(text: string): string {
  return text.replaceAll(/\p{Cc}\[[\d;]*m/gu, "");
}
