/** The relay's memory: which session of the driven agent stands behind a handle that a host knows, across restarts. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { SessionMap } from "../link/relay.js";

const MapFile = v.record(v.string(), v.string());
/** The oldest are forgotten. */
const MOST = 2000;

/** A home that cannot be written costs the memory, not the relay. */
export function sessionMap(home: string, dialect: string): SessionMap {
  const file = join(home, "relay-sessions.json");
  const key = (handle: string): string => `${dialect} ${handle}`;
  return {
    get: (handle) => read(file)[key(handle)],
    set(handle, sessionId) {
      const known = read(file);
      if (known[key(handle)] === sessionId) return;
      const entries = Object.entries(known).filter(([name]) => name !== key(handle));
      write(file, home, Object.fromEntries([...entries, [key(handle), sessionId] as const].slice(-MOST)));
    },
  };
}

function read(file: string): Record<string, string> {
  try {
    return v.parse(MapFile, JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return {};
  }
}

function write(file: string, home: string, map: Record<string, string>): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const draft = `${file}.${process.pid}.tmp`;
    writeFileSync(draft, JSON.stringify(map), { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    console.error(`parley: the session map cannot be kept: ${String(error)}`);
  }
}
