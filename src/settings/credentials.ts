/**
 * Keys of providers that `parley login` keeps: PARLEY_HOME/credentials, for the user's eyes only, or the system's keyring. They are the lowest
 * source of a key. Text that cannot be read gives no key, and is never overwritten.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { messageOf, ParleyError, systemCode, systemReason } from "../core/errors.js";
import { makeFolder } from "../os/files/folders.js";
import { withLock } from "../os/files/lock.js";
import { writeWhole } from "../os/files/whole-file.js";
import { keepInKeyring, keyringSecret, removeFromKeyring } from "../os/keyring.js";

const Kept = v.union([v.strictObject({ key: v.string() }), v.strictObject({ keyring: v.literal(true) })]);
const Credentials = v.pipe(v.string(), v.parseJson(), v.record(v.string(), Kept));
type Credentials = v.InferOutput<typeof Credentials>;

/** The keys of the providers that `isWanted` accepts, and the others that the file holds. Never throws: the problems come back as sentences. */
export async function keptKeys(
  home: string,
  isWanted: (provider: string) => boolean,
): Promise<{ keys: Record<string, string>; unused: string[]; warnings: string[] }> {
  const warnings: string[] = [];
  const found = await read(home).catch((error: unknown): Credentials => {
    warnings.push(`${messageOf(error)}, so no key in it counts`);
    return {};
  });
  const wanted = Object.entries(found).filter(([provider]) => isWanted(provider));
  if (wanted.length > 0) warnings.push(...(await looseness(fileIn(home))));
  const keys = await Promise.all(
    wanted.map(async ([provider, kept]) => {
      if ("key" in kept) return [[provider, kept.key] as const];
      const secret = await keyringSecret(provider).catch((error: unknown) => void warnings.push(messageOf(error)));
      return secret === undefined ? [] : [[provider, secret] as const];
    }),
  );
  const unused = Object.entries(found).flatMap(([provider, kept]) => ("key" in kept && !isWanted(provider) ? [kept.key] : []));
  return { keys: Object.fromEntries(keys.flat()), unused, warnings };
}

/** Returns the place of the key, in words. */
export async function keepKey(home: string, provider: string, key: string, where: "file" | "keyring"): Promise<string> {
  if (where === "keyring") await keepInKeyring(provider, key);
  await change(home, (before) => ({ ...before, [provider]: where === "file" ? { key } : { keyring: true } }));
  return where === "file" ? fileIn(home) : "the system's keyring";
}

/** False when none was kept. */
export async function forgetKey(home: string, provider: string): Promise<boolean> {
  const kept = (await read(home))[provider];
  if (kept === undefined) return false;
  if ("keyring" in kept) await removeFromKeyring(provider);
  await change(home, ({ [provider]: _removed, ...rest }) => rest);
  return true;
}

function fileIn(home: string): string {
  return join(home, "credentials");
}

async function change(home: string, work: (before: Credentials) => Credentials): Promise<void> {
  const file = fileIn(home);
  makeFolder(home, 0o700);
  await withLock(`${file}.lock`, file, async () => writeWhole(file, `${JSON.stringify(work(await read(home)), null, 2)}\n`));
}

async function read(home: string): Promise<Credentials> {
  const file = fileIn(home);
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return "{}";
    throw unreadable(file, systemReason(error));
  });
  const { success, output } = v.safeParse(Credentials, text);
  if (!success) throw unreadable(file, "it was not written by 'parley login'; mend it or remove it");
  return output;
}

function unreadable(file: string, why: string): ParleyError {
  return new ParleyError({ code: "config", message: `${file} cannot be read: ${why}`, retryable: false });
}

async function looseness(file: string): Promise<string[]> {
  const { mode } = await stat(file);
  const isLoose = process.platform !== "win32" && (mode & 0o077) !== 0;
  return isLoose ? [`${file} can be read or written by other users; 'chmod 600 ${file}' keeps it to you`] : [];
}
