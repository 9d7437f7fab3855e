/** Named points of conversations: PARLEY_HOME/chats, a folder a workspace, a file a name. Redacted, readable by the user alone. */
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { messageOf, ParleyError, systemCode } from "../../../core/errors.js";
import type { Redactor } from "../../../core/secrets/redact.js";
import { digest } from "../../../os/digest.js";
import { makeFolder } from "../../../os/files/folders.js";
import { writeWhole } from "../../../os/files/whole-file.js";
import type { Message } from "../../models/model.js";
import { StoredMessage } from "../../store/entry.js";

/** The saved chats of one workspace. */
const MOST_CHATS = 100;
const MOST_BYTES = 64 * 1024 * 1024;

/** A name is a file's name, on every system. */
const TAG = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const SUFFIX = ".json";

const SavedChat = v.object({ cwd: v.string(), savedAt: v.number(), messages: v.array(StoredMessage) });

export class SavedChats {
  readonly #home: string;
  readonly #cwd: string;
  readonly #redactor: Redactor;

  constructor(home: string, cwd: string, redactor: Redactor) {
    this.#home = home;
    this.#cwd = cwd;
    this.#redactor = redactor;
  }

  get #folder(): string {
    return join(this.#home, "chats", digest(this.#cwd, 32));
  }

  /** The newest first. */
  async list(): Promise<{ tag: string; savedAt: number }[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") return [];
      throw error;
    });
    const files = names.filter((name) => name.endsWith(SUFFIX) && TAG.test(name.slice(0, -SUFFIX.length)));
    const found = await Promise.all(
      files.map(async (name) => ({ tag: name.slice(0, -SUFFIX.length), savedAt: (await stat(join(this.#folder, name))).mtimeMs })),
    );
    return found.sort((a, b) => b.savedAt - a.savedAt);
  }

  /** Never replaces another chat. */
  async save(tag: string, messages: readonly Message[]): Promise<void> {
    const file = this.#fileOf(tag);
    const saved = await this.list();
    const taken = saved.find((chat) => chat.tag.toLowerCase() === tag.toLowerCase());
    if (taken !== undefined) throw fault(`There is a saved chat '${taken.tag}' already; /chat delete ${taken.tag} removes it`);
    if (saved.length >= MOST_CHATS) throw fault(`${MOST_CHATS} chats are saved already; /chat delete removes one`);
    const text = JSON.stringify({ cwd: this.#cwd, savedAt: Date.now(), messages: this.#redactor.value(messages) });
    if (Buffer.byteLength(text) > MOST_BYTES) throw fault(`The conversation has more than ${MOST_BYTES} bytes, too much to save`);
    makeFolder(this.#folder, 0o700);
    await writeWhole(file, text);
  }

  async load(tag: string): Promise<Message[]> {
    const file = this.#fileOf(tag);
    try {
      const { size } = await stat(file);
      if (size > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`);
      const value: unknown = JSON.parse(await readFile(file, "utf8"));
      // The value itself, checked: the schema's copy leaves out names like "constructor", which an argument may have.
      if (!v.is(SavedChat, value)) throw new Error("it does not hold a conversation");
      return value.messages;
    } catch (error) {
      if (systemCode(error) === "ENOENT") throw await this.#unknown(tag);
      throw fault(`The saved chat '${tag}' cannot be read: ${messageOf(error)}`);
    }
  }

  async remove(tag: string): Promise<void> {
    try {
      await rm(this.#fileOf(tag));
    } catch (error) {
      if (systemCode(error) === "ENOENT") throw await this.#unknown(tag);
      throw error;
    }
  }

  async #unknown(tag: string): Promise<ParleyError> {
    const tags = (await this.list()).map((chat) => chat.tag);
    return fault(`No chat '${tag}' is saved in this workspace${tags.length === 0 ? "" : `; there are ${tags.join(", ")}`}`);
  }

  #fileOf(tag: string): string {
    if (TAG.test(tag)) return join(this.#folder, `${tag}${SUFFIX}`);
    throw fault(`'${tag}' cannot be the name of a chat: letters, digits, '.', '_' and '-', 64 at most`);
  }
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "session", message, retryable: false, param: "args" });
}
