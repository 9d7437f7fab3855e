/** Read: a file as numbered lines, or as an image; notebooks by their cells, PDF files by their text. */
import { basename } from "node:path";
import * as v from "valibot";
import { IMAGE_CHARS } from "../../../core/limits.js";
import { headOf, wellFormed } from "../../workspace/output.js";
import { imageType } from "./image-type.js";
import { suggestion } from "./nearest-files.js";
import { notebookLines } from "./notebook.js";
import { isPdf, pdfLines } from "./pdf-text.js";
import { failure, isBinary, linesOf, MAX_FILE_BYTES, NOTES_CHARS } from "./text-file.js";
import { oneLine } from "../title.js";
import { defineTool, textResult, type ToolContext, type ToolResult } from "../tool.js";

const DEFAULT_LINES = 2000;
const MAX_LINE_CHARS = 2000;

export const read = defineTool({
  name: "Read",
  category: "info",
  access: "shared",
  description:
    `Reads a file. Text comes as numbered lines, ${DEFAULT_LINES} at most unless limit says otherwise; read on with offset. ` +
    "PNG, JPEG, GIF and WebP files come as images, notebooks as their cells, PDF files as their text. Folders cannot be read: use Glob. A file must be read before it is edited.",
  args: v.object({
    file_path: v.pipe(v.string(), v.minLength(1), v.description("The file, absolute or relative to the workspace.")),
    offset: v.optional(
      v.pipe(v.number(), v.integer(), v.minValue(0), v.description("The number of the first line to read; the first line of a file is 1.")),
    ),
    limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.description("How many lines to read."))),
  }),
  title: (args) => `Read ${oneLine(args.file_path)}`,
  paths: (args) => [{ path: args.file_path, write: false }],
  async run(args, context) {
    const path = await context.locate(args.file_path);
    const info = await context.workspace.info(path);
    if (info === null)
      return failure(`Failed to read file ${args.file_path}: no such file${await suggestion(context, path, args.file_path)}`);
    if (info.kind === "folder") return failure(`Failed to read file ${args.file_path}: it is a folder. Use Glob to list its files.`);
    const bytes = await context.workspace.read(path, MAX_FILE_BYTES, info);
    // The stamp is taken before the reading, so that a change in between counts as unseen.
    context.seen.note(path, info.stamp);
    const mime = imageType(bytes);
    if (mime !== null) return imageResult(args.file_path, mime, bytes);
    const whole = await linesIn(args.file_path, bytes, context);
    if ("problem" in whole) return failure(`Failed to read ${args.file_path}: ${whole.problem}`);
    if (whole.lines === undefined) return textResult(`(binary file, ${bytes.length} bytes)`);
    const from = Math.max(args.offset ?? 1, 1);
    const text = numbered(whole.lines, args.file_path, from - 1, args.limit ?? DEFAULT_LINES, context);
    return textResult(whole.note === undefined ? text : `${text}\n${whole.note}`);
  },
});

type Lines = { lines: string[]; note?: string } | { lines: undefined; note?: undefined } | { problem: string };

/** The lines to show, redacted; undefined for bytes that are not text. */
async function linesIn(name: string, bytes: Uint8Array, context: ToolContext): Promise<Lines> {
  const redacted = (lines: readonly string[]): string[] => linesOf(context.redactor.text(lines.join("\n")));
  if (isPdf(bytes)) {
    const pages = await pdfLines(bytes, context);
    return "problem" in pages ? { problem: `it is a PDF, and ${pages.problem}` } : { lines: redacted(pages) };
  }
  if (isBinary(bytes)) return { lines: undefined };
  const text = new TextDecoder().decode(bytes);
  const cells = name.toLowerCase().endsWith(".ipynb") ? notebookLines(text) : undefined;
  if (cells !== undefined) return { lines: redacted(cells), note: NOTEBOOK };
  return { lines: linesOf(context.redactor.text(text)) };
}

const NOTEBOOK = "(The cells of a notebook. The file itself is JSON: quote an edit as it stands there, which Grep shows.)";

function numbered(lines: readonly string[], name: string, offset: number, limit: number, context: ToolContext): string {
  if (lines.length === 0) return `(${name} is empty)`;
  if (offset >= lines.length) return `(${name} has ${lines.length} lines; offset ${offset + 1} is past its end)`;
  const shown: string[] = [];
  let room = context.outputChars - NOTES_CHARS;
  for (const line of lines.slice(offset, offset + limit)) {
    const entry = `${String(offset + shown.length + 1).padStart(6)}\t${shortened(line.replace(/\r$/, ""))}`;
    room -= entry.length + 1;
    if (room < 0 && shown.length > 0) break;
    shown.push(entry);
  }
  const end = offset + shown.length;
  if (end < lines.length) shown.push(`(lines ${offset + 1} to ${end} of ${lines.length}; read on with offset ${end + 1})`);
  return shown.join("\n");
}

function shortened(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return wellFormed(line);
  const head = headOf(line, MAX_LINE_CHARS);
  return wellFormed(`${head}… [${line.length - head.length} characters left out; Grep finds text in them, and Bash can print them]`);
}

const IMAGE_BYTES = (IMAGE_CHARS / 4) * 3;

function imageResult(name: string, mime: string, bytes: Uint8Array): ToolResult {
  if (bytes.length > IMAGE_BYTES) {
    return failure(
      `Failed to read image ${name}: it has ${bytes.length} bytes, and ${IMAGE_BYTES} are the limit. Make it smaller with Bash.`,
    );
  }
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return {
    parts: [
      { type: "image", mime, data, name: basename(name) },
      { type: "text", text: `Image ${name} (${mime}, ${bytes.length} bytes)` },
    ],
  };
}
