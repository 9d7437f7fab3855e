#!/usr/bin/env node
/**
 * The first file of the command: loads and runs the files of the bundle as they are needed. Reading and compiling them is half of a start,
 * so V8's code for them is kept beside them, in a folder for each version of Node. A run without kept code writes it when it ends. Code
 * that is missing, damaged or of other sources, and a folder that is not writable, cost time and nothing else.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

type Exports = Record<string, unknown>;

/** The form of a file of the bundle (`scripts/command-files.mjs`). */
type Run = (
  exports: Exports,
  require: (name: string) => unknown,
  importModule: (name: string) => Promise<unknown>,
  __filename: string,
  __dirname: string,
) => void;

const FOLDER = join(__dirname, "command");
const CODE = join(FOLDER, "code", `${process.version}-${process.arch}`);
/** The length of the checksum over a source and its code. */
const SUM_BYTES = 4;
/** Node's variable that turns kept code off. */
const isKept = process.env["NODE_DISABLE_COMPILE_CACHE"] === undefined;
/** V8 refuses code that was made with other flags. We keep code for runs without flags, and only such a run replaces it. */
const isWithoutFlags = process.execArgv.length === 0 && (process.env["NODE_OPTIONS"] ?? "") === "";

const loaded = new Map<string, Exports>();
/** Sources without kept code. */
const unkept = new Map<string, Buffer>();

function load(name: string): Exports {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const source = sourceOf(name);
  const code = isKept ? keptCode(name, source) : undefined;
  const script = compile(name, source, code);
  if (code === undefined || (script.cachedDataRejected === true && isWithoutFlags)) unkept.set(name, source);
  const run: Run = script.runInThisContext();
  const exports: Exports = {};
  loaded.set(name, exports);
  try {
    run(exports, (other) => (other.startsWith("./") ? load(other.slice(2)) : require(other)), importModule, join(FOLDER, name), FOLDER);
  } catch (error) {
    loaded.delete(name);
    throw error;
  }
  return exports;
}

function sourceOf(name: string): Buffer {
  try {
    return readFileSync(join(FOLDER, name));
  } catch (error) {
    return missing(error);
  }
}

/** The message holds the error; as `cause` a system's code would look like a failed connection to a model. */
function missing(error: unknown): never {
  throw new Error(`A part of Parley is gone or cannot be read; if it was updated while it ran, start it anew (${String(error)})`);
}

function compile(name: string, source: Buffer, cachedData?: Buffer): Script {
  return new Script(source.toString("latin1"), { filename: join(FOLDER, name), cachedData });
}

/** V8 refuses the code of another V8, but runs damaged code; hence the checksum. */
function keptCode(name: string, source: Buffer): Buffer | undefined {
  try {
    const kept = readFileSync(join(CODE, name));
    const code = kept.subarray(SUM_BYTES);
    return kept.readUInt32LE() === sum(source, code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function sum(source: Buffer, code: Buffer): number {
  return crc32(code, crc32(source));
}

function keepCode(): void {
  try {
    // In another user's package they could not remove our files, and a removed package must not come back.
    if (statSync(FOLDER).uid !== (process.geteuid?.() ?? 0)) return;
    mkdirSync(CODE, { recursive: true, mode: 0o755 });
    removeForsaken();
    for (const [name, source] of unkept) {
      const code = wholeCode(name, source);
      const head = Buffer.alloc(SUM_BYTES);
      head.writeUInt32LE(sum(source, code));
      writeWhole(name, Buffer.concat([head, code]));
    }
  } catch {
    // A failure costs the next run the time to compile.
  }
}

/**
 * Removes unfinished files of killed runs, and the code of files that an update removed. Another run that writes meanwhile gives up; this
 * run writes the code.
 */
function removeForsaken(): void {
  for (const name of readdirSync(CODE)) if (!existsSync(join(FOLDER, name))) rmSync(join(CODE, name), { force: true });
}

/** Compiles the whole source, and not only the functions that this run has called. */
function wholeCode(name: string, source: Buffer): Buffer {
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  setFlagsFromString("--no-lazy --no-compilation-cache");
  const script = compile(name, source);
  // V8 refuses code whose header says that it was made with other flags.
  setFlagsFromString("--lazy --compilation-cache");
  return script.createCachedData();
}

/** A writer of code could run code as us, so only we may write it, whatever the umask. */
function writeWhole(name: string, bytes: Buffer): void {
  const unfinished = join(CODE, `${name}.${process.pid}`);
  try {
    writeFileSync(unfinished, bytes, { flag: "wx", mode: 0o644 });
    renameSync(unfinished, join(CODE, name));
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Kept code has no handler for `import()`. Node's builtins need not go through Node's loader. */
async function importModule(name: string): Promise<unknown> {
  return isBuiltin(name) ? require(name) : import(name);
}

// Without a listener Node opens its inspector, which shows every key that we hold.
process.on("SIGUSR1", () => {});
if (isKept) process.once("exit", () => void (unkept.size > 0 && keepCode()));
load("main.js");
