/** `@path` in a prompt: files, folders and globs that its words name are attached to it, within bounds; the words stay as they are. */
import { plainText, type Part } from "../../core/content.js";
import { messageOf } from "../../core/errors.js";
import { readAttachment, type Reading } from "../attachments.js";
import type { Emit } from "../run.js";
import { listFiles } from "../tools/list-files.js";
import { matchingPaths, splitPattern } from "../tools/pattern.js";
import { MAX_FILE_BYTES } from "../tools/text-file.js";
import { mentionsIn, readings } from "./mention-tokens.js";

/** Of one prompt. */
const MOST_FILES = 50;
const MOST_CHARS = 200_000;
/** Of images, in base64. */
const MOST_IMAGE_CHARS = MAX_FILE_BYTES;
/** Files below a glob's folder that are looked at. */
const MOST_LISTED = 200_000;
/** Reasons that the notice gives one by one. */
const TOLD = 5;

/** Resources of servers, mentioned as `@server:uri`. */
interface ResourceSource {
  servers(): readonly string[];
  /** Throws why it cannot be read. */
  read(server: string, uri: string, signal: AbortSignal): Promise<Part[]>;
}

interface Loading {
  reading: Reading;
  resources: ResourceSource;
  emit: Emit;
  signal: AbortSignal;
}

/**
 * What the user's words attach. The user chose it, so it may lie outside the workspace; what names nothing is just text, unless the words
 * begin with it and it looks like a file.
 */
export async function loadMentions(words: readonly Part[], loading: Loading): Promise<Part[]> {
  const mentions = words.flatMap((part) => (part.type === "text" ? mentionsIn(part.text) : []));
  const basket = new Basket();
  for (const [index, { path, start }] of mentions.entries()) {
    const items = await itemsOf(path, loading);
    if (items.length === 0 && index === 0 && start === 0 && /[./]/.test(path)) basket.miss(path);
    for (const item of items) {
      if (loading.signal.aborted) return basket.parts;
      await basket.take(item);
    }
  }
  const text = basket.leftOut();
  if (text !== undefined) await loading.emit({ type: "notice", level: "warning", kind: "mentions", text });
  return basket.parts;
}

/** Something to attach, not read yet. `key` is the same for the same thing. */
interface Item {
  key: string;
  name: string;
  read(): Promise<Part[]>;
}

class Basket {
  readonly parts: Part[] = [];
  readonly #seen = new Set<string>();
  readonly #reasons: string[] = [];
  #files = 0;
  #chars = 0;
  #imageChars = 0;

  async take(item: Item): Promise<void> {
    if (this.#seen.has(item.key)) return;
    this.#seen.add(item.key);
    if (this.#files >= MOST_FILES) return this.#leave(item, `${MOST_FILES} files are the limit of one prompt`);
    try {
      this.#add(item, await item.read());
    } catch (error) {
      this.#leave(item, messageOf(error));
    }
  }

  miss(path: string): void {
    this.#reasons.push(`${path} (there is no such file)`);
  }

  leftOut(): string | undefined {
    const [count, told] = [this.#reasons.length, this.#reasons.slice(0, TOLD)];
    if (count === 0) return undefined;
    const more = count > told.length ? `; and ${count - told.length} more` : "";
    return `Not attached to the prompt: ${told.join("; ")}${more}`;
  }

  #add(item: Item, parts: Part[]): void {
    const chars = this.#chars + plainText(parts).length;
    if (chars > MOST_CHARS) return this.#leave(item, `${MOST_CHARS} characters are the limit of one prompt`);
    const imageChars = this.#imageChars + parts.reduce((sum, part) => sum + (part.type === "image" ? part.data.length : 0), 0);
    if (imageChars > MOST_IMAGE_CHARS) return this.#leave(item, "the images of the prompt are too large together");
    this.#chars = chars;
    this.#imageChars = imageChars;
    this.#files += 1;
    this.parts.push(...parts);
  }

  #leave({ name }: Item, why: string): void {
    this.#reasons.push(`${name} (${why})`);
  }
}

async function itemsOf(mentioned: string, loading: Loading): Promise<Item[]> {
  for (const name of readings(mentioned)) {
    const item = (await fileItem(name, loading.reading)) ?? resourceItem(name, loading);
    if (item !== undefined) return [item];
  }
  for (const pattern of readings(mentioned)) {
    const items = /[*?[{]/.test(pattern) ? await globItems(pattern, loading) : [];
    if (items.length > 0) return items;
  }
  return [];
}

async function fileItem(name: string, reading: Reading): Promise<Item | undefined> {
  const path = await existing(name, reading);
  return path === undefined ? undefined : { key: path, name, read: () => readAttachment(name, reading) };
}

/** Undefined as well for what cannot be looked at: then it is just text. */
async function existing(name: string, { workspace }: Reading): Promise<string | undefined> {
  try {
    const { path } = await workspace.resolve(name);
    return (await workspace.info(path)) === null ? undefined : path;
  } catch {
    return undefined;
  }
}

function resourceItem(name: string, { resources, signal }: Loading): Item | undefined {
  const colon = name.indexOf(":");
  const [server, uri] = [name.slice(0, colon), name.slice(colon + 1)];
  if (colon < 1 || uri === "" || !resources.servers().includes(server)) return undefined;
  return { key: name, name, read: () => resources.read(server, uri, signal) };
}

/** In the order of their paths; a pattern that cannot be read matches nothing. */
async function globItems(pattern: string, { reading, signal }: Loading): Promise<Item[]> {
  const { workspace } = reading;
  const split = splitPattern(pattern, undefined);
  const folder = await existing(split.base, reading);
  if (folder === undefined || (await workspace.info(folder))?.kind !== "folder") return [];
  try {
    const files = await matchingPaths(split, await listFiles({ workspace, signal }, folder, "path", MOST_LISTED));
    const named = files.map((file) => (split.base === "." ? file : `${split.base.replace(/\/$/, "")}/${file}`));
    return named.map((name, at) => ({ key: `${folder}/${files[at]}`, name, read: () => readAttachment(name, reading) }));
  } catch {
    return [];
  }
}
