/** `parley bridge check`: checks a profile and shows what would run. check-serve.ts does the same for each platform of a serving bridge. */
import { checkProfile, findProfile, type Checked, type Profile } from "../../bridge/index.js";
import { protocolOf } from "../../bridge/protocol.js";
import { isBridgeConfig } from "../../bridge/serve/config.js";
import { messageOf } from "../../core/errors.js";
import { given, usage, type Parsed } from "../command-line/flags.js";
import { verdict, write } from "./check-output.js";
import { checkServing } from "./check-serve.js";
import { wireOf } from "./wire.js";

type Env = Record<string, string | undefined>;

export async function checkBridge(parsed: Parsed, env: Env, cwd: string): Promise<number> {
  const [name] = parsed.positionals;
  if (name === undefined) throw usage("Which profile? parley bridge check PROFILE");
  const wire = wireOf(parsed);
  if (await isBridgeConfig(name)) {
    if (wire !== undefined) throw usage(`--wire is about a profile, and '${name}' is the configuration of a bridge`);
    return checkServing(name, given(parsed, "json"), env, cwd);
  }
  const say = given(parsed, "json") ? sayJson : sayText;
  try {
    const { profile, warnings, misspelt } = await findProfile(name, wire);
    const checked = await checkProfile(profile, { env, cwd });
    // A run only warns of a key that is nearly another one; to find it is what a check is for.
    const rest = warnings.filter((warning) => !misspelt.includes(warning));
    return say(name, { ...checked, problems: [...misspelt, ...checked.problems], warnings: [...rest, ...checked.warnings] }, profile);
  } catch (error) {
    return say(name, { problems: messageOf(error).split("\n"), warnings: [] });
  }
}

type Report = Pick<Checked, "problems" | "warnings"> & Partial<Checked>;

function sayJson(name: string, report: Report, profile?: Profile): number {
  const { problems } = report;
  const spoken =
    profile === undefined
      ? {}
      : { protocol: profile.protocol, dialect: profile.dialect, expands: profile.expands, timeout_secs: profile.timeoutSecs };
  process.stdout.write(`${JSON.stringify({ profile: name, ok: problems.length === 0, ...report, ...spoken })}\n`);
  return problems.length === 0 ? 0 : 1;
}

function sayText(name: string, { problems, warnings, argv, program, cwd, env }: Report, profile?: Profile): number {
  for (const warning of warnings) write(process.stderr, `parley: warning: ${warning}`);
  for (const problem of problems) write(process.stderr, `parley: ${problem}`);
  if (profile !== undefined && argv !== undefined) {
    const rows: (readonly [string, string])[] = [
      ["runs", argv.map(quoted).join(" ")],
      ["program", program ?? (problems.some((problem) => problem.startsWith("command: ")) ? "not found" : "as the turn says")],
      ["in", cwd ?? ""],
      ["speaks", protocolOf(profile)],
      ...(profile.expands.length > 0
        ? [["expands", `${profile.expands.join(" and ")}; a message is written so that it does not`] as const]
        : []),
      ["gets", (env ?? []).join(" ")],
      ["within", profile.timeoutSecs > 0 ? `${profile.timeoutSecs} s, then TERM, ${profile.killGraceSecs} s, KILL` : "no limit"],
    ];
    for (const [what, value] of rows) write(process.stdout, `${what.padEnd(8)} ${value}`);
  }
  return verdict(name, problems);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
