/** What the host attaches to a prompt, as content for the model: images inline, text by its words, folders as a listing. */
import { readdir } from "node:fs/promises";
import { messageOf } from "../core/errors.js";
import type { Part, PartOf } from "../core/content.js";
import { capText } from "./output.js";
import type { Emit } from "./run.js";
import { imageType } from "./tools/image-type.js";
import { isBinary, MAX_FILE_BYTES } from "./tools/text-file.js";
import type { Workspace } from "./workspace.js";

/** Names of a folder that are told. */
const LISTED = 200;

interface Attaching {
  parts: readonly Part[];
  state: { workspace: Workspace; outputChars: number };
  signal: AbortSignal;
  emit: Emit;
}

/** A file that cannot be read is told as an error of the turn, which goes on without it. */
export async function loadAttachments({ parts, state, signal, emit }: Attaching): Promise<Part[]> {
  const { workspace, outputChars } = state;
  const loaded: Part[] = [];
  for (const part of parts) {
    if (signal.aborted) break;
    if (part.type !== "file" || part.path === undefined || part.text !== undefined || part.data !== undefined) {
      loaded.push(part);
      continue;
    }
    try {
      loaded.push(...(await load(part, part.path, workspace, outputChars)));
    } catch (error) {
      const message = `The attachment ${part.path} could not be read: ${messageOf(error)}`;
      await emit({ type: "error", fault: { code: "tool", message, retryable: false, param: part.path } });
    }
  }
  return loaded;
}

/** The host chose the file, so it may lie outside the workspace. */
async function load(part: PartOf<"file">, name: string, workspace: Workspace, outputChars: number): Promise<Part[]> {
  const { path } = await workspace.resolve(name);
  const info = await workspace.info(path);
  if (info === null) throw new Error("there is no such file");
  if (info.kind === "folder") return [text(`Attached folder ${name}:\n${await listing(path)}`)];
  if (info.kind === "other") throw new Error("it is neither a file nor a folder");
  const bytes = await workspace.read(path, MAX_FILE_BYTES);
  const mime = imageType(bytes);
  if (mime !== null)
    return [text(`Attached image ${name}`), { type: "image", mime, data: Buffer.from(bytes).toString("base64"), name: part.name ?? name }];
  if (isBinary(bytes)) return [text(`Attached file ${name} (binary, ${bytes.length} bytes)`)];
  return [text(`Attached file ${name}:\n${capText(new TextDecoder().decode(bytes), outputChars)}`)];
}

async function listing(folder: string): Promise<string> {
  const entries = (await readdir(folder, { withFileTypes: true }))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
  const more = entries.length > LISTED ? [`… and ${entries.length - LISTED} more`] : [];
  return [...entries.slice(0, LISTED), ...more].join("\n");
}

function text(words: string): Part {
  return { type: "text", text: words };
}
