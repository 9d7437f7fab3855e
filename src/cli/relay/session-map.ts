/** The relay's memory across restarts: the session of the driven agent for each name that a host knows. */
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { messageOf } from "../../core/errors.js";
import type { KnownSession, SessionMap } from "../../link/relay.js";
import { digest } from "../../os/digest.js";
import { makeFolder } from "../../os/files/folders.js";

const Entry = v.object({
  dialect: v.string(),
  name: v.string(),
  sessionId: v.string(),
  model: v.optional(v.string()),
  provider: v.optional(v.string()),
});
/** The most entries; the oldest are removed. */
const MOST = 2000;

/** Each entry is a file, so that relays side by side need no lock. A home that is not writable costs the memory, not the relay. */
export function sessionMap(home: string, dialect: string): SessionMap {
  const folder = join(home, "relay");
  const fileOf = (name: string): string => join(folder, `${digest(`${dialect} ${name}`, 32)}.json`);
  return {
    get: (name) => read(fileOf(name)),
    set(name, { sessionId, model, provider }) {
      const known = read(fileOf(name));
      if (known?.sessionId === sessionId && known.model === model && known.provider === provider) return true;
      try {
        makeFolder(folder, 0o700);
        write(fileOf(name), JSON.stringify({ dialect, name, sessionId, model, provider }));
        forgetOldest(folder);
        return true;
      } catch (error) {
        console.error(`parley: the name of this session cannot be kept: ${messageOf(error)}`);
        return false;
      }
    },
  };
}

function read(file: string): KnownSession | undefined {
  try {
    const { sessionId, model, provider } = v.parse(Entry, JSON.parse(readFileSync(file, "utf8")));
    return { sessionId, ...(model !== undefined && { model }), ...(provider !== undefined && { provider }) };
  } catch {
    return undefined;
  }
}

/** Writes the whole file or nothing. */
function write(file: string, text: string): void {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
}

function forgetOldest(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= MOST) return;
  const byAge = names.map((name) => join(folder, name)).sort((one, other) => ageOf(one) - ageOf(other));
  for (const file of byAge.slice(0, names.length - MOST)) rmSync(file, { force: true });
}

function ageOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
