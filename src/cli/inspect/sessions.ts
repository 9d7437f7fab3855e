/** `parley sessions`: the stored sessions, for people and for programs. */
import type { Event } from "../../core/event.js";
import type { Env } from "../../settings/settings.js";
import { homeOf } from "../../os/files/home.js";
import { jsonlStore } from "../../engine/store/jsonl/store.js";
import { damageIn } from "../../engine/store/jsonl/read-log.js";
import type { SessionStore, SessionSummary } from "../../engine/store/store.js";
import { given, text, usage, type Parsed } from "../command-line/flags.js";
import { workingFolder } from "../compose/working-folder.js";
import { isOwnerName, ownerHome } from "../compose/owners.js";
import { harmless } from "./harmless.js";
import { Screen } from "../chat/screen.js";
import { looksFor } from "../chat/theme.js";

export async function runSessions(parsed: Parsed, env: Env): Promise<number> {
  const [what = "list", id, turn] = parsed.positionals;
  const owner = text(parsed, "owner");
  if (owner !== undefined && !isOwnerName(owner)) throw usage(`--owner takes the name of a token, and '${owner}' is no name`);
  for (const flag of ["files", "conversation", "force"])
    if (what !== "rewind" && given(parsed, flag)) throw usage(`--${flag} goes with rewind: parley sessions rewind ID TURN`);
  const store = jsonlStore(ownerHome(homeOf(env, workingFolder()), owner), { keep: Infinity, redact: (value) => value });
  if (what === "list") {
    if (id !== undefined) throw usage(`Unexpected argument '${id}' (see --help)`);
    return list(await store.list(), given(parsed, "json"));
  }
  if (what !== "show" && what !== "rm" && what !== "rewind") throw usage(`'${what}' is not list, show, rm or rewind`);
  if (id === undefined)
    throw usage(`Which session? parley sessions ${what} ID${what === "rewind" ? " TURN" : ""} ('parley sessions' lists them)`);
  if (what === "rewind") {
    const { rewindSession } = await import("./rewind-session.js");
    return rewindSession(store, id, turn, parsed, env);
  }
  if (turn !== undefined) throw usage(`Unexpected argument '${turn}' (see --help)`);
  return what === "show" ? show(store, id, given(parsed, "json"), env) : remove(store, id);
}

function list(sessions: readonly SessionSummary[], json: boolean): number {
  if (json) for (const session of sessions) process.stdout.write(`${JSON.stringify(session)}\n`);
  else if (sessions.length === 0) process.stdout.write("No session is stored.\n");
  else for (const session of sessions) process.stdout.write(`${row(session)}\n`);
  return 0;
}

function row({ id, usedAt, cwd, name, firstPrompt, archived }: SessionSummary): string {
  const when = new Date(usedAt).toISOString().slice(0, 16).replace("T", " ");
  const about = name ?? (firstPrompt === "" ? "(no text)" : (firstPrompt ?? "(nothing was said)"));
  return harmless(`${id}  ${when}  ${cwd}  ${archived === true ? `(archived) ${about}` : about}`);
}

async function show(store: SessionStore, id: string, json: boolean, env: Env): Promise<number> {
  const events = store.events(id, (lines) => process.stderr.write(`parley: ${damageIn(id, lines) ?? ""}\n`));
  if (json) {
    for await (const event of events) process.stdout.write(`${JSON.stringify(event)}\n`);
    return 0;
  }
  const screen = new Screen({ answer: process.stdout, aside: process.stdout, looks: looksFor(process.stdout, env) });
  for await (const event of events) tell(event, screen);
  return 0;
}

function tell(event: Event, screen: Screen): void {
  if (event.type === "user.message")
    screen.line(`\n> ${event.parts.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ")}`);
  else screen.show(event);
}

async function remove(store: SessionStore, id: string): Promise<number> {
  await store.remove(id);
  process.stdout.write(`Session '${id}' is removed.\n`);
  return 0;
}
