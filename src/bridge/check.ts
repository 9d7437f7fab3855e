/** Tells what a profile would run, without running it: `parley bridge check`. */
import { messageOf } from "../core/errors.js";
import { firstFew } from "../core/text/truncate-list.js";
import { loadDialect } from "../dialects/index.js";
import type { Placeholders } from "./profile/expand.js";
import { findProgram, isFolder, prepare, remedy, type Place } from "./turn/prepare.js";
import type { Profile } from "./profile/profile.js";

/** The findings about a profile. */
export interface Checked {
  problems: string[];
  warnings: string[];
  /** The words that would run, with the turn's placeholders as they are. */
  argv: string[];
  /** The path of the program. */
  program?: string;
  cwd: string;
  /** The names of the agent's variables beside those of the protocol. */
  env: string[];
}

const MESSAGE = "{{MESSAGE}}";

/** Placeholders stand for themselves here, except the folder, which is known. */
function unfilled(profile: Profile): Placeholders {
  return { MESSAGE, SESSION_ID: "{{SESSION_ID}}", SESSION_NAME: "{{SESSION_NAME}}", PROFILE_DIR: profile.dir };
}

/** Reads a profile and says what is wrong with it. */
export async function checkProfile(profile: Profile, place: Place): Promise<Checked> {
  const prepared = prepare(profile, place, unfilled(profile));
  const { argv, cwd, env } = prepared;
  const problems: string[] = [];
  const [command = ""] = argv;
  const isOpen = (word: string): boolean => /\{\{[A-Z_]+\}\}/.test(word);
  if (!isOpen(cwd) && !isFolder(cwd)) problems.push(`cwd: the folder '${cwd}' does not exist`);
  const found = isOpen(command) || isOpen(cwd) ? undefined : findProgram(command, prepared);
  if (found !== undefined && "problem" in found) {
    const help = remedy(profile, prepared);
    problems.push(`command: ${found.problem}${help === "" ? "" : `; ${help}`}`);
  }
  if (profile.dialect !== undefined) {
    await loadDialect(profile.dialect).catch((error: unknown) => problems.push(`dialect: ${messageOf(error)}`));
  }
  return {
    problems,
    warnings: [...prepared.warnings, ...unsetVariables(profile, place), ...shellWarning(argv), ...messageWarnings(argv, profile.cwd)],
    argv,
    ...(found !== undefined && "path" in found && { program: found.path }),
    cwd,
    env: Object.keys(env).sort(),
  };
}

/** Warns of unset variables, except PARLEY_HOME, which has a default. */
function unsetVariables({ env, envAllowlist }: Profile, place: Place): string[] {
  const asked = Object.values(env).flatMap((template) =>
    [...template.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name = ""]) => name),
  );
  const allowed = envAllowlist === undefined ? undefined : new Set(envAllowlist);
  return firstFew(
    [...new Set(asked)].filter((name) => name !== "PARLEY_HOME" && place.env[name] === undefined && allowed?.has(name) !== false),
    (name) => `\${${name}} is not set here; the agent gets an empty text`,
    (count) => `${count} more variables are not set here`,
  );
}

/** The shell would run words that a person wrote. */
function shellWarning(argv: readonly string[]): string[] {
  const at = argv.findIndex((word, index) => index > 0 && /^-[a-z]*c$/.test(word));
  if (at === -1 || !/(^|\/)(ba|da|k|z)?sh$/.test(argv[0] ?? "")) return [];
  if (!(argv[at + 1] ?? "").includes(MESSAGE)) return [];
  return ['a shell would run what the message says; use "$AGENT_MESSAGE" in the script instead of {{MESSAGE}}'];
}

/** Words that a person wrote would decide more than the agent's input. */
function messageWarnings(argv: readonly string[], cwd: string | undefined): string[] {
  const [command = "", ...args] = argv;
  const at = args.findIndex((word, index) => word.startsWith(MESSAGE) && !(args[index - 1] ?? "").startsWith("-"));
  const isFlag = at !== -1 && !args.slice(0, at).includes("--");
  return [
    ...(command.includes(MESSAGE) ? ["the message would say which program runs"] : []),
    ...(cwd?.includes(MESSAGE) === true ? ["the message would say in which folder it runs"] : []),
    ...(isFlag ? ["a message that begins with - would be a flag of the program; put '--' before it, or use 'stdin: message'"] : []),
  ];
}
