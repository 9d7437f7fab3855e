/** Undo over the native dialect: turns that change files, and what comes of taking them back. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { EventOf } from "../../src/core/event.js";
import type { OpOf } from "../../src/core/op.js";
import { RewindReply } from "../../src/core/rewind.js";
import { scratch, start, type NativeHost } from "../process/harness.js";

let count = 0;
const call = (tool: string, args: object) => ({ tool, args, id: `c${++count}` });

export const write = (file_path: string, content: string) => call("Write", { file_path, content });
export const read = (file_path: string) => call("Read", { file_path });
export const edit = (file_path: string, old_string: string, new_string: string) => call("Edit", { file_path, old_string, new_string });
export const bash = (command: string) => call("Bash", { command });
export const patch = (...lines: string[]) => call("apply_patch", { input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });

export interface Run {
  host: NativeHost;
  home: string;
  cwd: string;
}

/** A session in mode `yolo` in a folder with these files. `home` holds files of PARLEY_HOME. */
export async function running(
  files: Record<string, string>,
  responses: unknown[],
  config: Record<string, unknown> = {},
  { args = [], home: own = {} }: { args?: string[]; home?: Record<string, string> } = {},
): Promise<Run> {
  const [home, cwd] = [scratch(own), scratch(files)];
  const host = start({ cwd, env: { PARLEY_HOME: home }, responses, args });
  await host.open({ mode: "yolo", ...config });
  return { host, home, cwd };
}

type Asked = Omit<OpOf<"session.rewind">, "type" | "turn">;

/** Runs a turn of that name to its end. */
export async function turn(host: NativeHost, id: string, session = "s"): Promise<EventOf<"turn.ended">> {
  host.prompt(`do ${id}`, { turn: id, session });
  return host.next("turn.ended", (event) => event.turn === id && event.session === session);
}

export async function tryRewind(host: NativeHost, id: string, more: Asked = {}): Promise<EventOf<"reply">> {
  const op = `rewind-${++count}`;
  host.send({ type: "session.rewind", id: op, session: "s", turn: id, ...more });
  return host.next("reply", ({ parent }) => parent === op);
}

export async function rewind(host: NativeHost, id: string, more: Asked = {}): Promise<RewindReply> {
  const { status, data, fault } = await tryRewind(host, id, more);
  if (status !== "ok") throw new Error(`the rewind was refused: ${fault?.message ?? ""}`);
  return v.parse(RewindReply, data);
}

/** The files of a folder by name; those that are not there are null. */
export function contents(folder: string, ...names: string[]): Record<string, string | null> {
  return Object.fromEntries(names.map((name) => [name, existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : null]));
}
