/** Folders with files in them, for what the command reads around a session. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { scratch } from "../process/harness.js";

export function put(base: string, files: Record<string, string | Buffer>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), content);
  }
}

export function tree(files: Record<string, string | Buffer>): string {
  const base = scratch();
  put(base, files);
  return base;
}
