/** Read: a file as numbered lines, or as an image. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { IMAGE_CHARS } from "../../../core/limits.js";
import { headOf, wellFormed } from "../../workspace/output.js";
import { imageType } from "./image-type.js";
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
    "PNG, JPEG, GIF and WebP files come as images. Folders cannot be read: use Glob. A file must be read before it is edited.",
  args: v.object({
    file_path: v.pipe(v.string(), v.minLength(1), v.description("The file, absolute or relative to the workspace.")),
    offset: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.description("How many lines to skip (0 is the first line)."))),
    limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.description("How many lines to read."))),
  }),
  title: (args) => `Read ${oneLine(args.file_path)}`,
  paths: (args) => [{ path: args.file_path, write: false }],
  async run(args, context) {
    const path = await context.locate(args.file_path);
    const info = await context.workspace.info(path);
    if (info === null) return failure(`Failed to read file ${args.file_path}: no such file${await suggestion(path, args.file_path)}`);
    if (info.kind === "folder") return failure(`Failed to read file ${args.file_path}: it is a folder. Use Glob to list its files.`);
    const bytes = await context.workspace.read(path, MAX_FILE_BYTES, info);
    // The stamp is taken before the reading: so a change in between counts as unseen.
    context.seen.note(path, info.stamp);
    const mime = imageType(bytes);
    if (mime !== null) return imageResult(args.file_path, mime, bytes);
    if (isBinary(bytes)) return textResult(`(binary file, ${bytes.length} bytes)`);
    const lines = linesOf(context.redactor.text(new TextDecoder().decode(bytes)));
    return textResult(numbered(lines, args.file_path, args.offset ?? 0, args.limit ?? DEFAULT_LINES, context));
  },
});

function numbered(lines: readonly string[], name: string, offset: number, limit: number, context: ToolContext): string {
  if (lines.length === 0) return `(${name} is empty)`;
  if (offset >= lines.length) return `(${name} has ${lines.length} lines; offset ${offset} is past its end)`;
  const shown: string[] = [];
  let room = context.outputChars - NOTES_CHARS;
  for (const line of lines.slice(offset, offset + limit)) {
    const entry = `${String(offset + shown.length + 1).padStart(6)}\t${shortened(line.replace(/\r$/, ""))}`;
    room -= entry.length + 1;
    if (room < 0 && shown.length > 0) break;
    shown.push(entry);
  }
  const end = offset + shown.length;
  if (end < lines.length) shown.push(`(lines ${offset + 1} to ${end} of ${lines.length}; read on with offset ${end})`);
  return shown.join("\n");
}

function shortened(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return wellFormed(line);
  const head = headOf(line, MAX_LINE_CHARS);
  return wellFormed(`${head}… [${line.length - head.length} characters left out]`);
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

/** Finds the name in the folder that was probably meant. */
async function suggestion(path: string, asGiven: string): Promise<string> {
  const wanted = basename(path);
  const names = await readdir(dirname(path)).catch(() => []);
  const [nearest] = names
    .map((name) => ({ name, distance: editDistance(name.toLowerCase(), wanted.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(wanted.length / 3)) || stem(name) === stem(wanted))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return nearest === undefined ? "" : `. Did you mean ${join(dirname(asGiven), nearest.name)}?`;
}

function stem(name: string): string {
  return name.replace(/(.)\..*$/, "$1").toLowerCase();
}

/** The Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
