/** Questions to the records of a wire whose records have a type. */
import { existsSync, readFileSync } from "node:fs";
import type { WireRecord } from "../grade/conversation.js";
import type { Scene } from "../grade/scene.js";

/** Whether a record has this type, and these fields. */
export function is(type: string, fields: WireRecord = {}): (rec: WireRecord) => boolean {
  return (rec) => rec["type"] === type && Object.entries(fields).every(([name, value]) => rec[name] === value);
}

export function textAt(rec: unknown, ...path: readonly string[]): string {
  const found = at(rec, ...path);
  return typeof found === "string" ? found : "";
}

/** The value at the end of a path of fields. */
export function at(rec: unknown, ...path: readonly string[]): unknown {
  let value: unknown = rec;
  for (const name of path) value = typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
  return value;
}

/** The requests of the model for a prompt, as JSON text. */
export function asked(scene: Scene, word: string): string[] {
  return scene.model.asked.filter((request) => request.word === word).map(({ text }) => text);
}

/** A command that writes its process id into a file of the workspace and stays. */
export const STAYS = "echo $$ > pid; sleep 300; true";

/** The process that `STAYS` started. */
export async function startedPid(scene: Scene): Promise<number> {
  const file = `${scene.folder}/pid`;
  await scene.until("the command to start", () => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
  return Number(readFileSync(file, "utf8"));
}

export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
