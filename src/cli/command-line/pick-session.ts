/** Which stored session is meant by `--resume` without an ID: one that a person picks at a terminal. */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { sessionChoice } from "../../engine/extensions/commands/resume.js";
import { jsonlStore } from "../../engine/store/jsonl/store.js";
import { homeOf } from "../../os/files/home.js";
import type { Env } from "../../settings/settings.js";
import { pickAlone } from "../chat/pick-alone.js";
import { workingFolder } from "../compose/working-folder.js";
import { usage } from "./flags.js";

const MOST = 50;

/** The id of the session that the person picks. Sessions of the folder come first. Throws where nobody can be asked. */
export async function pickSession(env: Env, workspace = "."): Promise<string> {
  const remedy = "'parley sessions' lists them, and --continue takes the one last used in this folder";
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw usage(`--resume takes the ID of a session where nobody can pick one; ${remedy}`);
  const cwd = workingFolder();
  const folder = await realpath(resolve(cwd, workspace)).catch(() => cwd);
  const stored = await jsonlStore(homeOf(env, cwd), { keep: Infinity, redact: (value) => value }).list();
  const sessions = stored.filter(({ archived }) => archived !== true);
  const here = sessions.filter((session) => session.cwd === folder);
  const offered = [...here, ...sessions.filter((session) => session.cwd !== folder)].slice(0, MOST);
  if (offered.length === 0) throw usage("No session is stored; leave --resume out, and a new one begins");
  const picked = await pickAlone("Which session?", offered.map(sessionChoice), env);
  if (picked === undefined) throw usage(`No session was picked; ${remedy}`);
  return picked;
}
