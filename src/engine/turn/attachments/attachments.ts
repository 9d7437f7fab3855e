/**
 * Attachments of a prompt as content for the model: images inline, text by its words, folders as a listing. An attachment is
 * judged as the call of Read that it amounts to; a host that names a file has said yes to it, and a denied file stays unread.
 */
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { messageOf } from "../../../core/errors.js";
import type { Part, PartOf } from "../../../core/content.js";
import type { JudgedCall, Verdict } from "../../permissions/permissions.js";
import { followLink, nameIn, shownLink } from "./attached-link.js";
import { judgedCall } from "../../calls/prepare.js";
import { capText } from "../../workspace/output.js";
import type { SessionServices } from "../../session/services.js";
import type { Turn } from "../turn.js";
import { imageType } from "../../tools/files/image-type.js";
import { read } from "../../tools/files/read.js";
import { isBinary, MAX_FILE_BYTES } from "../../tools/files/text-file.js";

/** The most names of a folder that are listed. */
const LISTED = 200;

/** The services of a session that reading an attachment takes. */
export type Reading = Pick<SessionServices, "workspace" | "permissions" | "outputChars" | "redactor">;

/**
 * An attachment that cannot be read is told as an error of the turn, which goes on without it. The model hears of a link that leads
 * nowhere.
 */
export async function loadAttachments(parts: readonly Part[], { session: reading, signal, emit }: Turn): Promise<Part[]> {
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

/** The words of a prompt alone. */
export function withoutFiles(parts: readonly Part[]): Part[] {
  return parts.filter((part) => part.type !== "file");
}

async function readLink(uri: string, part: PartOf<"file">, reading: Reading, signal: AbortSignal): Promise<Part[]> {
  const linked = await followLink(uri, { signal });
  if ("path" in linked) return readAttachment(linked.path, reading, part.name);
  const name = onOneLine(part.name ?? nameIn(uri) ?? shownLink(uri));
  return content(linked.bytes, name, name, reading);
}

/** The host chose the file, so it may lie outside the workspace, and nobody is asked; a denial holds. Throws why it cannot be read. */
async function readAttachment(name: string, reading: Reading, label = name): Promise<Part[]> {
  const { call, verdict } = await judgedFile(name, reading);
  if (verdict.decision === "deny") throw new Error(verdict.reason);
  return readJudged(name, call, reading, label);
}

/** Judges the file as a call of Read. */
export async function judgedFile(name: string, reading: Reading): Promise<{ call: JudgedCall; verdict: Verdict }> {
  const call = await judgedCall(reading, read, { file_path: name });
  return { call, verdict: await reading.permissions.judge(call) };
}

/** Reads what was judged and nothing else: a link may lead elsewhere by now. Throws why it cannot be read. */
export async function readJudged(name: string, { paths }: JudgedCall, reading: Reading, label = name): Promise<Part[]> {
  const { workspace } = reading;
  const { path } = await workspace.resolve(name);
  if (!paths.some((judged) => judged.path === path)) throw new Error(`it now leads to ${path}, and not to what was judged`);
  const info = await workspace.info(path);
  if (info === null) throw new Error("there is no such file");
  if (info.kind === "folder") return [text(`Attached folder ${name}:\n${await listing(path, reading)}`)];
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

/** Lists a folder without the names that Glob would not show. */
async function listing(folder: string, { workspace, permissions }: Reading): Promise<string> {
  const hides = permissions.hiding(["Glob"]);
  const isHidden = (path: string): boolean => hides?.({ path, relative: relative(workspace.root, path) }) === true;
  const entries = (await readdir(folder, { withFileTypes: true }))
    .filter(({ name }) => !isHidden(join(folder, name)))
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
