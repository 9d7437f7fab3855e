/** Which stored session is meant by `--resume` without an ID: a numbered list at a terminal. */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { jsonlStore } from "../../engine/store/jsonl/store.js";
import type { SessionSummary } from "../../engine/store/store.js";
import { homeOf } from "../../os/files/home.js";
import type { Env } from "../../settings/settings.js";
import { workingFolder } from "../compose/working-folder.js";
import { harmless } from "../inspect/harmless.js";
import { askOnce } from "./ask-once.js";
import { usage } from "./flags.js";

const MOST = 20;

/** The id of the session that the person picks. Sessions of the folder come first. Throws where nobody can be asked. */
export async function pickSession(env: Env, workspace = "."): Promise<string> {
  const remedy = "'parley sessions' lists them, and --continue takes the one last used in this folder";
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw usage(`--resume takes the ID of a session where nobody can pick one; ${remedy}`);
  const cwd = workingFolder();
  const folder = await realpath(resolve(cwd, workspace)).catch(() => cwd);
  const sessions = await jsonlStore(homeOf(env, cwd), { keep: Infinity, redact: (value) => value }).list();
  const here = sessions.filter((session) => session.cwd === folder);
  const offered = [...here, ...sessions.filter((session) => session.cwd !== folder)].slice(0, MOST);
  if (offered.length === 0) throw usage("No session is stored; leave --resume out, and a new one begins");
  const rows = offered.map((session, at) => `${String(at + 1).padStart(3)}  ${rowOf(session)}\n`);
  process.stderr.write(rows.join(""));
  const reply = await askOnce(`Which session? (1 to ${offered.length}; Enter leaves) `);
  const chosen = /^\d+$/.test(reply) ? offered[Number(reply) - 1] : offered.find(({ id }) => id === reply);
  if (chosen === undefined) throw usage(reply === "" ? "No session was picked" : `'${reply}' is no number of the list; ${remedy}`);
  return chosen.id;
}

function rowOf({ name, firstPrompt, cwd, usedAt }: SessionSummary): string {
  const title = name ?? (firstPrompt || "(nothing was said)");
  return harmless(`${shortened(title)}  ${cwd}  ${ageOf(Date.now() - usedAt)}`);
}

const TITLE_CHARS = 60;

function shortened(title: string): string {
  return title.length > TITLE_CHARS ? `${title.slice(0, TITLE_CHARS - 1)}…` : title;
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

function ageOf(ms: number): string {
  for (const [unit, size] of UNITS) {
    const count = Math.floor(ms / size);
    if (count > 0) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}
