/**
 * Files of a message. Telegram's address of a file holds the bot's token, which no agent may see: files are downloaded into the state
 * folder and passed on by their path.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import * as v from "valibot";
import { messageOf } from "../../core/errors.js";
import { mintId } from "../../core/ids.js";
import { makeFolder } from "../../os/files/folders.js";
import type { Attachment } from "../turn/turn.js";
import type { PlatformContext } from "./kind.js";
import type { TelegramApi } from "./telegram-api.js";
import type { TelegramMessage } from "./telegram-update.js";

/** The largest file that a bot may download. */
const MOST_BYTES = 20 * 1024 * 1024;
const KEPT_MS = 7 * 24 * 3_600_000;

const FileInfo = v.looseObject({ file_path: v.string() });

/** A sentence takes the place of a file that could not be downloaded. */
export async function fetchFiles(
  files: TelegramMessage["files"],
  api: TelegramApi,
  context: PlatformContext,
  signal: AbortSignal,
): Promise<{ attachments: Attachment[]; missing: string[] }> {
  const attachments: Attachment[] = [];
  const missing: string[] = [];
  if (files.length > 0) forgetOld(context.files);
  for (const file of files) {
    try {
      attachments.push({ type: file.type, url: await fetchFile(file, api, context.files, signal), name: file.name });
    } catch (error) {
      missing.push(`[${file.name} could not be fetched: ${messageOf(error)}]`);
    }
  }
  return { attachments, missing };
}

type File = TelegramMessage["files"][number];

async function fetchFile({ id, name, size }: File, api: TelegramApi, folder: string, signal: AbortSignal): Promise<string> {
  if (size !== undefined && size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`);
  const info = await api.call("getFile", { file_id: id }, { signal });
  if (!info.ok) throw new Error(info.description);
  const bytes = await api.download(v.parse(FileInfo, info.result).file_path, MOST_BYTES, signal);
  makeFolder(folder, 0o700);
  const file = join(folder, `${mintId()}-${safeName(name)}`);
  await writeFile(file, bytes, { mode: 0o600 });
  return pathToFileURL(file).href;
}

/** The sender chose this name. */
function safeName(name: string): string {
  return basename(name)
    .replace(/[^\w.-]/g, "_")
    .slice(-80);
}

function forgetOld(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if (Date.now() - statSync(file).mtimeMs > KEPT_MS) rmSync(file, { force: true });
    }
  } catch {
    // The folder does not exist yet.
  }
}
