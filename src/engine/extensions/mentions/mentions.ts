/** `@path` in a prompt attaches the named files, folders and globs, within bounds; the text stays unchanged. */
import { plainText, type Part } from "../../../core/content.js";
import { messageOf } from "../../../core/errors.js";
import type { JudgedCall, Verdict } from "../../permissions/permissions.js";
import { judgedFile, readJudged, type Reading } from "../../turn/attachments/attachments.js";
import type { Emit } from "../../turn/turn.js";
import type { ExtensionServices } from "../../session/control.js";
import { listFiles } from "../../tools/search/list-files.js";
import { matchingPaths, splitPattern } from "../../tools/search/pattern.js";
import { MAX_FILE_BYTES } from "../../tools/files/text-file.js";
import { resourcesOf } from "../mcp/tools.js";
import { askToAttach, type Question } from "./questions.js";
import { mentionsIn, readings } from "./tokens.js";

/** The most of one prompt. */
const MOST_FILES = 50;
const MOST_CHARS = 200_000;
/** The most bytes of images, in base64. */
const MOST_IMAGE_CHARS = MAX_FILE_BYTES;
/** The most files below a glob's folder to look at. */
const MOST_LISTED = 200_000;
/** The most names and reasons that a notice lists. */
const TOLD = 5;

/** Resources of servers, mentioned as `@server:uri`. */
interface ResourceSource {
  servers(): readonly string[];
  /** Throws the reason if it cannot be read. */
  read(server: string, uri: string, signal: AbortSignal): Promise<Part[]>;
}

/** A path from some root, or a name with an extension, a short one where no folder is named. A package (`@types/node`) is none. */
const LOOKS_LIKE_A_FILE = /^(?:~|\.{0,2})\/[^*?[{]+$|^[^*?[{]+\/[^*?[{/]*\.\w+$|^[^*?[{/]+\.[a-z][a-z0-9]{0,4}$/;

interface Loading {
  session: ExtensionServices;
  resources: ResourceSource;
  emit: Emit;
  signal: AbortSignal;
}

/**
 * Loads the files that the user's words mention, each judged as a call of Read: a denied file is left out, and the host is asked where Read
 * asks it. A mention that names nothing is just text, unless it looks like a file.
 */
export async function loadMentions(words: readonly Part[], loading: Loading): Promise<Part[]> {
  const mentions = words.flatMap((part) => (part.type === "text" ? mentionsIn(part.text) : []));
  const attachments = new Attachments();
  for (const [index, { path, start }] of mentions.entries()) {
    const items = await itemsOf(path, loading);
    const name = readings(path).at(-1) ?? path;
    const isMeant = index === 0 && start === 0 ? /[./]/.test(path) : LOOKS_LIKE_A_FILE.test(name);
    if (items.length === 0 && isMeant) attachments.miss(name);
    for (const item of items) {
      if (loading.signal.aborted) return attachments.parts;
      await attachments.take(item);
    }
  }
  await askToAttach(attachments.questions, loading);
  if (loading.signal.aborted) return attachments.parts;
  const [attached, leftOut] = [attachments.attached(), attachments.leftOut()];
  if (attached !== undefined) await loading.emit({ type: "notice", level: "info", kind: "mentions", text: attached });
  if (leftOut !== undefined) await loading.emit({ type: "notice", level: "warning", kind: "mentions", text: leftOut });
  return attachments.parts;
}

/** An attachment that is not read yet. Equal attachments have the same `key`. */
interface Item {
  key: string;
  name: string;
  judged(): Promise<{ call: JudgedCall; verdict: Verdict }>;
  /** Reads what the judgement covered. */
  read(call: JudgedCall): Promise<Part[]>;
}

class Attachments {
  readonly parts: Part[] = [];
  /** Questions about files that are attached if the host says yes. */
  readonly questions: Question[] = [];
  readonly #seen = new Set<string>();
  readonly #reasons: string[] = [];
  readonly #names: string[] = [];
  #chars = 0;
  #imageChars = 0;

  async take(item: Item): Promise<void> {
    if (this.#seen.has(item.key)) return;
    this.#seen.add(item.key);
    try {
      await this.#judge(item);
    } catch (error) {
      this.#leave(item, messageOf(error));
    }
  }

  async #judge(item: Item): Promise<void> {
    const room = MOST_FILES - this.#names.length - this.questions.length;
    if (room <= 0) return void this.#leave(item, `${MOST_FILES} files are the limit of one prompt`);
    const { call, verdict } = await item.judged();
    if (verdict.decision === "deny") this.#leave(item, verdict.reason);
    else if (verdict.decision === "ask") this.#question(item, call, verdict.message);
    else this.#add(item, await item.read(call));
  }

  #question(item: Item, judged: JudgedCall, message: string): void {
    const attach = async (): Promise<string | undefined> => {
      try {
        return this.#add(item, await item.read(judged));
      } catch (error) {
        return this.#leave(item, messageOf(error));
      }
    };
    this.questions.push({ judged, message, attach, refuse: (why) => this.#leave(item, why) });
  }

  miss(path: string): void {
    this.#reasons.push(`${path} (there is no such file)`);
  }

  leftOut(): string | undefined {
    return this.#reasons.length === 0 ? undefined : `Not attached to the prompt: ${listed(this.#reasons, "; ")}`;
  }

  attached(): string | undefined {
    return this.#names.length === 0 ? undefined : `Attached ${listed(this.#names, ", ")}`;
  }

  /** The reason for leaving it out; undefined if it is attached. */
  #add(item: Item, parts: Part[]): string | undefined {
    const chars = this.#chars + plainText(parts).length;
    if (chars > MOST_CHARS) return this.#leave(item, `${MOST_CHARS} characters are the limit of one prompt`);
    const imageChars = this.#imageChars + parts.reduce((sum, part) => sum + (part.type === "image" ? part.data.length : 0), 0);
    if (imageChars > MOST_IMAGE_CHARS) return this.#leave(item, "the images of the prompt are too large together");
    this.#chars = chars;
    this.#imageChars = imageChars;
    this.#names.push(item.name);
    this.parts.push(...parts);
    return undefined;
  }

  #leave({ name }: Item, why: string): string {
    this.#reasons.push(`${name} (${why})`);
    return why;
  }
}

function listed(words: readonly string[], between: string): string {
  const told = words.slice(0, TOLD);
  const more = words.length > told.length ? [`and ${words.length - told.length} more`] : [];
  return [...told, ...more].join(between);
}

async function itemsOf(mentioned: string, loading: Loading): Promise<Item[]> {
  for (const name of readings(mentioned)) {
    const item = (await fileItem(name, loading.session)) ?? resourceItem(name, loading);
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
  return path === undefined ? undefined : fileAt(path, name, reading);
}

function fileAt(key: string, name: string, reading: Reading): Item {
  return { key, name, judged: () => judgedFile(name, reading), read: (call) => readJudged(name, call, reading) };
}

/** Undefined also if the path cannot be looked at: the mention is then plain text. */
async function existing(name: string, { workspace }: Reading): Promise<string | undefined> {
  try {
    const { path } = await workspace.resolve(name);
    return (await workspace.info(path)) === null ? undefined : path;
  } catch {
    return undefined;
  }
}

/** A resource that the user names needs no approval; a denial of its server's resources holds. */
function resourceItem(name: string, { resources, session: { permissions }, signal }: Loading): Item | undefined {
  const colon = name.indexOf(":");
  const [server, uri] = [name.slice(0, colon), name.slice(colon + 1)];
  if (colon < 1 || uri === "" || !resources.servers().includes(server)) return undefined;
  const call: JudgedCall = {
    tool: "ReadMcpResource",
    wholeName: resourcesOf(server),
    category: "mcp",
    args: { server, uri },
    paths: [],
    title: `Read ${uri} of ${server}`,
    outside: undefined,
    hosted: false,
    grants: [],
    asksAlways: false,
  };
  const judged = async (): ReturnType<Item["judged"]> => {
    const { decision, rule } = await permissions.rules.judge(call);
    const verdict: Verdict = decision === "deny" ? { decision, reason: `denied by the rule ${rule}` } : { decision: "allow" };
    return { call, verdict };
  };
  return { key: name, name, judged, read: () => resources.read(server, uri, signal) };
}

/** Files in the order of their paths; a pattern that cannot be read matches nothing. */
async function globItems(pattern: string, { session: reading, signal }: Loading): Promise<Item[]> {
  const { workspace } = reading;
  const split = splitPattern(pattern, undefined);
  const folder = await existing(split.base, reading);
  if (folder === undefined || (await workspace.info(folder))?.kind !== "folder") return [];
  try {
    const files = await matchingPaths(split, await listFiles({ workspace, signal }, folder, "path", MOST_LISTED));
    const named = files.map((file) => (split.base === "." ? file : `${split.base.replace(/\/$/, "")}/${file}`));
    return named.map((name, at) => fileAt(`${folder}/${files[at]}`, name, reading));
  } catch {
    return [];
  }
}
