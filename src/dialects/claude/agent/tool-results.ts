/**
 * The result of a call as data: `tool_use_result` of its line, and `tool_response` for a hook. Each tool of Claude Code has its own shape.
 * Our tools write text for the model; what is read from it here is what their text says, and undefined if it has another form.
 */
import { plainText, type Part, type TodoItem } from "../../../core/content.js";
import { stringField } from "../../kit/issues.js";

export interface EndedCall {
  name: string;
  /** Our own arguments. */
  input: Record<string, unknown>;
  output: readonly Part[];
}

/** The surroundings of the call that its result does not tell. */
export interface Around {
  cwd: string;
  /** Milliseconds that the call took. */
  took: number;
  /** The todo list before the call. */
  todos: readonly TodoItem[];
}

export function resultData(call: EndedCall, around: Around): unknown {
  return Object.hasOwn(SHAPES, call.name) ? SHAPES[call.name]?.(call, around) : undefined;
}

const SHAPES: Readonly<Record<string, (call: EndedCall, around: Around) => unknown>> = {
  Read: read,
  Write: write,
  Edit: edit,
  Bash: bash,
  Grep: grep,
  Glob: glob,
  TodoWrite: todoWrite,
  WebFetch: webFetch,
  WebSearch: webSearch,
};

// --- files ---

function read({ input, output }: EndedCall, { cwd }: Around): unknown {
  const image = output.find((part) => part.type === "image");
  if (image?.type === "image") return { type: "image", file: { base64: image.data, type: image.mime, originalSize: bytesIn(image.data) } };
  const filePath = pathOf(input, cwd);
  const lines = plainText(output).split("\n");
  const [, empty] = /^\(.* is (empty)\)$/.exec(lines[0] ?? "") ?? [];
  if (empty !== undefined) return { type: "text", file: { filePath, content: "", numLines: 0, startLine: 1, totalLines: 0 } };
  const shown = lines.flatMap((line) => {
    const [, number, text = ""] = /^ *(\d+)\t(.*)$/s.exec(line) ?? [];
    return number === undefined ? [] : [{ number: Number(number), text }];
  });
  const [first, last] = [shown[0], shown.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const [, total] = /^\(lines \d+ to \d+ of (\d+);/.exec(lines.slice(shown.length).join("\n")) ?? [];
  const content = shown.map(({ text }) => text).join("\n");
  const numbers = { numLines: shown.length, startLine: first.number, totalLines: total === undefined ? last.number : Number(total) };
  return { type: "text", file: { filePath, content, ...numbers } };
}

function bytesIn(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}

function write({ input, output }: EndedCall, { cwd }: Around): unknown {
  const content = stringField(input, "content");
  const text = plainText(output);
  if (content === undefined || !/^(?:Created|Updated) /.test(text)) return undefined;
  const diff = output.find((part) => part.type === "diff");
  const isNew = text.startsWith("Created ");
  return {
    type: isNew ? "create" : "update",
    filePath: pathOf(input, cwd),
    content,
    structuredPatch: isNew ? [] : hunksOf(text),
    originalFile: diff?.type === "diff" ? diff.before : null,
    userModified: false,
  };
}

/** Several edits of one call are told as one, of the whole file. */
function edit({ input, output }: EndedCall, { cwd }: Around): unknown {
  const found = output.find((part) => part.type === "diff");
  const diff = found?.type === "diff" ? found : undefined;
  const isSingle = !Array.isArray(input["edits"]) || input["edits"].length === 0;
  const oldString = isSingle ? stringField(input, "old_string") : (diff?.before ?? undefined);
  const newString = isSingle ? stringField(input, "new_string") : diff?.after;
  const text = plainText(output);
  if (oldString === undefined || newString === undefined || !text.startsWith("Edited ")) return undefined;
  return {
    filePath: pathOf(input, cwd),
    oldString,
    newString,
    originalFile: diff?.before ?? null,
    structuredPatch: hunksOf(text),
    userModified: false,
    replaceAll: input["replace_all"] === true,
  };
}

function pathOf(input: Record<string, unknown>, cwd: string): string {
  return absolute(stringField(input, "file_path") ?? "", cwd);
}

/** Hosts expect absolute paths. */
export function absolute(path: string, cwd: string): string {
  return cwd === "" || /^(?:[\\/~]|[A-Za-z]:)/.test(path) ? path : `${cwd.replace(/[\\/]$/, "")}/${path.replace(/^\.\//, "")}`;
}

interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

/** The hunks of the unified diff in a text. */
function hunksOf(text: string): Hunk[] {
  const hunks: Hunk[] = [];
  for (const line of text.split("\n")) {
    const [isHead, oldStart, oldLines = "1", newStart, newLines = "1"] = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    const open = hunks.at(-1);
    if (isHead !== undefined) {
      const [from, count, to, added] = [oldStart, oldLines, newStart, newLines].map(Number);
      hunks.push({ oldStart: from ?? 0, oldLines: count ?? 0, newStart: to ?? 0, newLines: added ?? 0, lines: [] });
    } else if (open !== undefined && /^[ +\-\\]/.test(line)) open.lines.push(line);
  }
  return hunks;
}

// --- commands ---

function bash({ output }: EndedCall): unknown {
  const text = plainText(output);
  const [, backgroundTaskId] = /^Running in the background as (\S+), process/.exec(text) ?? [];
  if (backgroundTaskId === undefined && !text.startsWith("Exit code: ")) return undefined;
  const { stdout, stderr } = outputsIn(text);
  const told = { stdout, stderr, interrupted: false, isImage: false, noOutputExpected: false };
  return backgroundTaskId === undefined ? told : { ...told, backgroundTaskId };
}

/** Bash names the two outputs on lines of their own, stdout first. */
function outputsIn(text: string): { stdout: string; stderr: string } {
  const [out, err] = ["\nSTDOUT:\n", "\nSTDERR:\n"];
  const from = text.indexOf(out);
  const behind = text.lastIndexOf(err);
  if (from === -1) return { stdout: "", stderr: behind === -1 ? "" : text.slice(behind + err.length) };
  if (behind < from) return { stdout: text.slice(from + out.length), stderr: "" };
  return { stdout: text.slice(from + out.length, behind), stderr: text.slice(behind + err.length) };
}

// --- searches ---

const CUT = /^\(only the first (\d+) lines are shown;/;
const REMARK = /^\(.+\)$/;

/** The lines that a search found, and its remarks behind them. */
function foundIn(output: readonly Part[], none: string): { found: string[]; remarks: string[] } {
  const lines = plainText(output).split("\n");
  const remarks: string[] = [];
  while (REMARK.test(lines.at(-1) ?? "")) remarks.unshift(lines.pop() ?? "");
  return { found: lines.filter((line) => line !== "" && line !== none), remarks };
}

function grep({ input, output }: EndedCall): unknown {
  const { found, remarks } = foundIn(output, "No matches found");
  const [, limit] = remarks.flatMap((remark) => [CUT.exec(remark)]).find((match) => match !== null) ?? [];
  const applied = limit === undefined ? {} : { appliedLimit: Number(limit) };
  const content = found.join("\n");
  switch (input["output_mode"]) {
    case "files":
      return { mode: "files_with_matches", filenames: found, numFiles: found.length, ...applied };
    case "count": {
      const numMatches = found.reduce((sum, line) => sum + Number(/:(\d+)$/.exec(line)?.[1] ?? 0), 0);
      return { mode: "count", numFiles: found.length, filenames: [], content, numMatches, ...applied };
    }
    default:
      return { mode: "content", numFiles: 0, filenames: [], content, numLines: found.length, ...applied };
  }
}

function glob({ output }: EndedCall, { took }: Around): unknown {
  const { found: filenames, remarks } = foundIn(output, "No files matched the pattern");
  const more = Number(/^\((\d+) more;/.exec(remarks.join("\n"))?.[1] ?? 0);
  const numFiles = filenames.length;
  return { filenames, durationMs: took, numFiles, truncated: more > 0, totalMatches: numFiles + more, countIsComplete: true };
}

// --- the rest ---

function todoWrite({ output }: EndedCall, { todos }: Around): unknown {
  const list = output.find((part) => part.type === "todo");
  return list?.type === "todo" ? { oldTodos: todos.map(wireTodo), newTodos: list.items.map(wireTodo) } : undefined;
}

function wireTodo({ text, status }: TodoItem): object {
  return { content: text, status, activeForm: text };
}

function webFetch({ output }: EndedCall, { took }: Around): unknown {
  const [, url, code, codeText = "", result = ""] = /^(\S+)\n(\d{3}) ?([^\n]*)\n\n(.*)$/s.exec(plainText(output)) ?? [];
  if (url === undefined || code === undefined) return undefined;
  return { bytes: new TextEncoder().encode(result).length, code: Number(code), codeText, result, durationMs: took, url };
}

function webSearch({ input, output }: EndedCall, { took }: Around): unknown {
  return { query: stringField(input, "query") ?? "", results: [plainText(output)], durationSeconds: took / 1000, searchCount: 1 };
}
