/** The folder `files` of a session: copies of files by their SHA-256, readable by the user alone, up to a total size. */
import { link, copyFile, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mintId } from "../../../core/ids.js";
import { contentHash } from "../../../os/digest.js";
import { makeFolder } from "../../../os/files/folders.js";
import type { FileCopies } from "../store.js";

const FOLDER = "files";
const HASH = /^[0-9a-f]{64}$/;
const MIB = 1024 * 1024;

interface Copy {
  sha256: string;
  bytes: number;
  at: number;
}

export function copiesIn(session: string, mostMiB: number): FileCopies {
  const folder = join(session, FOLDER);
  let known: Promise<Map<string, Copy>> | undefined;
  let last: Promise<void> = Promise.resolve();

  return {
    /** One after another, because each makes room for itself. */
    keep(sha256, bytes) {
      const kept = last.then(() => keep(sha256, bytes));
      last = kept.catch(() => {});
      return kept;
    },
    async read(sha256) {
      if (!HASH.test(sha256)) return undefined;
      const bytes = await readFile(join(folder, sha256)).catch(() => undefined);
      return bytes !== undefined && contentHash(bytes) === sha256 ? bytes : undefined;
    },
  };

  async function keep(sha256: string, bytes: Uint8Array): Promise<void> {
    const copies = await (known ??= copiesOf(folder));
    const file = join(folder, sha256);
    const now = Date.now();
    const isThere = copies.get(sha256)?.bytes === bytes.length && (await isTouched(file, now / 1000));
    copies.delete(sha256);
    if (!isThere) {
      await makeRoom(copies, bytes.length);
      makeFolder(folder, 0o700);
      const draft = join(folder, `${mintId()}.tmp`);
      try {
        await writeFile(draft, bytes, { mode: 0o600, flag: "wx" });
        await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    }
    copies.set(sha256, { sha256, bytes: bytes.length, at: now });
  }

  async function makeRoom(copies: Map<string, Copy>, wanted: number): Promise<void> {
    if (wanted > mostMiB * MIB) throw new Error(`it has more than the ${mostMiB} MiB that a session may keep (sessions.undoMiB)`);
    let held = [...copies.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    // The map is in the order of use.
    for (const { sha256, bytes } of copies.values()) {
      if (held + wanted <= mostMiB * MIB) return;
      await rm(join(folder, sha256), { force: true });
      copies.delete(sha256);
      held -= bytes;
    }
  }
}

function isTouched(file: string, seconds: number): Promise<boolean> {
  return utimes(file, seconds, seconds).then(
    () => true,
    () => false,
  );
}

/** Oldest first. Half-written copies from a crash are removed. */
async function copiesOf(folder: string): Promise<Map<string, Copy>> {
  const found: Copy[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    if (!HASH.test(name)) {
      await rm(join(folder, name), { force: true });
      continue;
    }
    const stats = await stat(join(folder, name)).catch(() => undefined);
    if (stats !== undefined) found.push({ sha256: name, bytes: stats.size, at: stats.mtimeMs });
  }
  return new Map(found.sort((one, other) => one.at - other.at).map((copy) => [copy.sha256, copy]));
}

/** The copies of one session for another. Copies never change, so both share them. */
export async function shareCopies(from: string, to: string): Promise<void> {
  const names = (await readdir(join(from, FOLDER)).catch(() => [])).filter((name) => HASH.test(name));
  if (names.length > 0) makeFolder(join(to, FOLDER), 0o700);
  for (const name of names) {
    const [source, target] = [join(from, FOLDER, name), join(to, FOLDER, name)];
    // The other session may remove a copy meanwhile; then it is missing here, too.
    await link(source, target).catch(() => copyFile(source, target).catch(() => {}));
  }
}
