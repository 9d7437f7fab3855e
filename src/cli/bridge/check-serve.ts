/**
 * `parley bridge check CONFIG`: checks a serving bridge's configuration, and shows for each platform what runs, who may talk and who may
 * approve.
 */
import { checkProfile, findProfile, loadBridgeConfig, type BridgeConfig, type PlatformConfig } from "../../bridge/index.js";
import { messageOf } from "../../core/errors.js";
import { homeOf } from "../../os/files/home.js";
import { verdict, write } from "./check-output.js";
import { agentsEnvironment, profileBeside } from "./platforms.js";

type Env = Record<string, string | undefined>;

interface Report {
  problems: string[];
  warnings: string[];
  platforms: PlatformReport[];
}

interface PlatformReport {
  name: string;
  profile: string;
  /** Ids of senders; "*" is everybody. */
  allow: readonly string[];
  approvers: readonly string[];
  /** The reason why nobody may approve. */
  nobody_approves?: string;
}

export async function checkServing(path: string, asJson: boolean, env: Env, cwd: string): Promise<number> {
  const report = await checkedConfig(path, env, cwd);
  const { problems, warnings, platforms } = report;
  if (asJson) {
    process.stdout.write(`${JSON.stringify({ config: path, ok: problems.length === 0, ...report })}\n`);
    return problems.length === 0 ? 0 : 1;
  }
  for (const warning of warnings) write(process.stderr, `parley: warning: ${warning}`);
  for (const problem of problems) write(process.stderr, `parley: ${problem}`);
  for (const { name, profile, allow, approvers, nobody_approves: because } of platforms) {
    write(process.stdout, name);
    const rows = [
      ["runs", profile],
      ["talk", allow.length === 0 ? "nobody" : people(allow)],
      ["approve", because === undefined ? people(approvers) : `nobody: ${because}`],
    ] as const;
    for (const [what, value] of rows) write(process.stdout, `  ${what.padEnd(8)} ${value}`);
  }
  return verdict(path, problems);
}

async function checkedConfig(path: string, env: Env, cwd: string): Promise<Report> {
  try {
    const config = await loadBridgeConfig(path, homeOf(env, cwd));
    const checked = await Promise.all(config.platforms.map((platform) => checkedPlatform(platform, config, env, cwd)));
    return {
      problems: checked.flatMap(({ problems }) => problems),
      warnings: checked.flatMap(({ warnings }) => warnings),
      platforms: checked.map(({ report }) => report),
    };
  } catch (error) {
    return { problems: messageOf(error).split("\n"), warnings: [], platforms: [] };
  }
}

interface CheckedPlatform extends Pick<Report, "problems" | "warnings"> {
  report: PlatformReport;
}

async function checkedPlatform(platform: PlatformConfig, config: BridgeConfig, env: Env, cwd: string): Promise<CheckedPlatform> {
  const { name, profile, folder, allow, approvers, secrets } = platform;
  const { noneBecause, ids } = approvers;
  const found = await checkedProfile(profileBeside(folder, profile), agentsEnvironment(config, env), cwd);
  const placed = (text: string): string => `platforms.${name}: ${text}`;
  const unset = secrets.filter((variable) => !env[variable]);
  return {
    problems: found.problems.map(placed),
    warnings: [
      ...found.warnings,
      ...unset.map((variable) => `the variable ${variable} is not set here, and the platform does not start without it`),
      ...(allow.size === 0 ? ["nobody may talk: its list 'allow' is empty"] : []),
      ...(allow.size > 0 && noneBecause !== undefined ? [`nobody may approve: ${noneBecause}`] : []),
    ].map(placed),
    report: { name, profile, allow: [...allow], approvers: ids, ...(noneBecause !== undefined && { nobody_approves: noneBecause }) },
  };
}

async function checkedProfile(nameOrFile: string, env: Env, cwd: string): Promise<Pick<Report, "problems" | "warnings">> {
  try {
    const { profile, warnings } = await findProfile(nameOrFile);
    const checked = await checkProfile(profile, { env, cwd });
    return { problems: checked.problems, warnings: [...warnings, ...checked.warnings] };
  } catch (error) {
    return { problems: messageOf(error).split("\n"), warnings: [] };
  }
}

function people(ids: readonly string[]): string {
  return ids.map((id) => (id === "*" ? "everybody" : id)).join(", ");
}
