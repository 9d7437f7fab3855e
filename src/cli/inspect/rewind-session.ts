/** `parley sessions rewind ID TURN`: a stored session as it was before a turn, with its files. */
import type { SessionStore } from "../../engine/store/store.js";
import { askedBy, chosenTurn } from "../../engine/undo/asked.js";
import { rewindStored } from "../../engine/undo/stored-rewind.js";
import { homeOf, userHomeOf } from "../../os/files/home.js";
import { loadSettings, type Env } from "../../settings/settings.js";
import { given, usage, type Parsed } from "../command-line/flags.js";
import { workingFolder } from "../compose/working-folder.js";
import { harmless } from "./harmless.js";

/** Returns 1 when files were left as they are. */
export async function rewindSession(store: SessionStore, id: string, turn: string | undefined, parsed: Parsed, env: Env): Promise<number> {
  if (turn === undefined) throw usage(`Back to before which turn? parley sessions rewind ${id} TURN (-1 is the last one)`);
  const flag = (name: string): true | undefined => given(parsed, name) || undefined;
  const more = { files: flag("files"), conversation: flag("conversation"), force: flag("force") };
  const reply = await rewindStored(store, id, (turns) => askedBy({ turn: chosenTurn(turns, turn), ...more }), {
    configured: async (cwd) => (await loadSettings({ flags: {}, env, cwd })).settings,
    env,
    places: { home: homeOf(env, workingFolder()), userHome: userHomeOf(env) },
    warn: (text) => process.stderr.write(`parley: ${text}\n`),
  });
  const { files, left, why = {} } = reply;
  if (given(parsed, "json")) {
    process.stdout.write(`${JSON.stringify(reply)}\n`);
    return left.length > 0 ? 1 : 0;
  }
  const lines = [
    `Session '${id}' went back to before that turn.`,
    ...files.map((path) => `as before: ${path}`),
    ...left.map((path) => `left as it is: ${path} (${why[path] ?? ""})`),
  ];
  for (const line of lines) process.stdout.write(`${harmless(line)}\n`);
  return left.length > 0 ? 1 : 0;
}
