/** What the host attaches to a prompt, as content for the model: images inline, text by its words, folders as a listing. */
import { readdir } from "node:fs/promises";
import { messageOf } from "../core/errors.js";
import type { Part, PartOf } from "../core/content.js";
import type { Redactor } from "../core/redact.js";
import { followLink, nameIn, shownLink } from "./attached-link.js";
import { capText } from "./output.js";
import type { Emit } from "./run.js";
import { imageType } from "./tools/image-type.js";
import { isBinary, MAX_FILE_BYTES } from "./tools/text-file.js";
import type { Workspace } from "./workspace.js";

/** Names of a folder that are told. */
const LISTED = 200;

/** What reading an attachment takes. */
export interface Reading {
  workspace: Workspace;
  /** Characters of one file that the model gets. */
  outputChars: number;
  redactor: Redactor;
}

interface Attaching {
  parts: readonly Part[];
  state: Omit<Reading, "redactor">;
  redactor: Redactor;
  signal: AbortSignal;
  emit: Emit;
}

/** What cannot be read is told as an error of the turn, which goes on without it; the model hears of a link that leads nowhere. */
export async function loadAttachments({ parts, state, redactor, signal, emit }: Attaching): Promise<Part[]> {
  const reading: Reading = { workspace: state.workspace, outputChars: state.outputChars, redactor };
  const loaded: Part[] = [];
  for (const part of parts) {
    if (signal.aborted) break;
    const { path, uri } = part.type === "file" && part.text === undefined && part.data === undefined ? part : {};
    if (part.type !== "file" || (path === undefined && uri === undefined)) {
      loaded.push(part);
      continue;
    }
    try {
      if (path !== undefined) loaded.push(...(await readAttachment(path, reading, part.name)));
      else if (uri !== undefined) loaded.push(...(await readLink(uri, part, reading, signal)));
    } catch (error) {
      const name = path ?? shownLink(uri ?? "");
      const message = `The attachment ${name} could not be read: ${messageOf(error)}`;
      if (path === undefined && !signal.aborted) loaded.push(text(`(${message})`));
      await emit({ type: "error", fault: { code: "tool", message, retryable: false, param: name } });
    }
  }
  return loaded;
}

async function readLink(uri: string, part: PartOf<"file">, reading: Reading, signal: AbortSignal): Promise<Part[]> {
  const linked = await followLink(uri, { signal });
  if ("path" in linked) return readAttachment(linked.path, reading, part.name);
  const name = onOneLine(part.name ?? nameIn(uri) ?? shownLink(uri));
  return content(linked.bytes, name, name, reading);
}

/** The host or its user chose the file, so it may lie outside the workspace. Throws why it cannot be read. */
export async function readAttachment(name: string, reading: Reading, label = name): Promise<Part[]> {
  const { workspace } = reading;
  const { path } = await workspace.resolve(name);
  const info = await workspace.info(path);
  if (info === null) throw new Error("there is no such file");
  if (info.kind === "folder") return [text(`Attached folder ${name}:\n${await listing(path)}`)];
  if (info.kind === "other") throw new Error("it is neither a file nor a folder");
  return content(await workspace.read(path, MAX_FILE_BYTES, info), name, label, reading);
}

function content(bytes: Uint8Array, name: string, label: string, { outputChars, redactor }: Reading): Part[] {
  const mime = imageType(bytes);
  if (mime !== null)
    return [text(`Attached image ${name}`), { type: "image", mime, data: Buffer.from(bytes).toString("base64"), name: label }];
  if (isBinary(bytes)) return [text(`Attached file ${name} (binary, ${bytes.length} bytes)`)];
  return [text(`Attached file ${name}:\n${capText(redactor.text(new TextDecoder().decode(bytes)), outputChars)}`)];
}

async function listing(folder: string): Promise<string> {
  const entries = (await readdir(folder, { withFileTypes: true }))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
  const more = entries.length > LISTED ? [`… and ${entries.length - LISTED} more`] : [];
  return [...entries.slice(0, LISTED).map(onOneLine), ...more].join("\n");
}

/** A name may hold a line break, and must not pass for more than a name. */
function onOneLine(name: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(name) ? JSON.stringify(name) : name;
}

function text(words: string): Part {
  return { type: "text", text: words };
}
