/** Reads one config file. config-parse.ts reads its text. */
import { readFile } from "node:fs/promises";
import { messageOf, systemCode } from "../core/errors.js";
import type { Keys } from "../core/values/value-issues.js";
import type { Config } from "./config-schema.js";

export interface ConfigFile {
  path: string;
  /** Of a file with problems only the names of providers are kept. */
  config: Config;
  /** `path:line` of a key. */
  locate: (keys: Keys) => string;
  /** `path:line:column` of a value. */
  locateValue: (keys: Keys) => string;
  warnings: string[];
  /** Each starts with the path and, where there is one, the line and column. */
  problems: string[];
}

/** A larger file was not written by hand. */
const MAX_BYTES = 1024 * 1024;

/** Undefined when the file does not exist. Never throws: `problems` holds the errors. */
export async function readConfigFile(path: string, owner: "user" | "workspace"): Promise<ConfigFile | undefined> {
  const unusable = (why: string) => brokenFile(path, `${path}: ${why}`);
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return unusable(unreadable(code) ?? `cannot be read: ${messageOf(error)}`);
  }
  if (bytes.length > MAX_BYTES) return unusable(`is ${bytes.length} bytes long; a config file may have ${MAX_BYTES}`);
  const text = decoded(bytes);
  if (text === undefined) return unusable("is not UTF-8 text");
  const { parseConfig } = await import("./config-parse.js");
  return parseConfig(path, text, owner);
}

/** A file that has one problem and no content. */
export function brokenFile(path: string, problem: string): ConfigFile {
  return { path, config: {}, locate: () => path, locateValue: () => path, warnings: [], problems: [problem] };
}

function unreadable(code: string | undefined): string | undefined {
  if (code === "EACCES" || code === "EPERM") return "cannot be read: permission denied";
  if (code === "EISDIR") return "is a folder; a file is expected";
  return undefined;
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
