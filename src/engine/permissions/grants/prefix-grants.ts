/**
 * The grant "prefix": the calls that a yes for the session covers, and no more. A command: its program and its first
 * words. A file tool: that tool within the workspace. WebFetch: the host. Any other tool: that tool.
 *
 * Commands are judged as an allow rule `Bash(git push:*)` judges them, on what the parser makes of them: no other command behind a pipe or
 * a semicolon, no redirection that writes, no assignment, and nothing that runs code of its own.
 */
import type { Covers } from "../../../core/event.js";
import { commandSubject, compileCommandPattern } from "../command-pattern.js";
import type { RuledCall } from "../ruled-call.js";
import { analyseShell, type ShellCommand } from "../shell/shell.js";
import { baseName } from "../shell/words.js";

export interface PrefixGrant {
  readonly covers: Covers;
}

/** The calls that a yes to this call would cover beyond it; undefined where that would be too many, or none. */
export async function grantFor(call: RuledCall): Promise<PrefixGrant | undefined> {
  const grant = await widest(call);
  return grant !== undefined && (await isCovered(call, [grant])) ? grant : undefined;
}

async function widest({ tool, args, paths }: RuledCall): Promise<PrefixGrant | undefined> {
  if (tool === "Bash") return commandGrant(args["command"]);
  if (tool === "WebFetch") {
    const host = hostOf(args["url"]);
    return host === undefined ? undefined : { covers: { domain: host } };
  }
  return { covers: paths.length === 0 ? { tool } : { tool, within: "workspace" } };
}

/** Several together may cover the parts of one command, as allow rules do. */
export async function isCovered(call: RuledCall, grants: readonly PrefixGrant[]): Promise<boolean> {
  if (call.tool === "Bash") return isCoveredCommand(call.args["command"], grants);
  // Files that a patch removes are asked about each time.
  if (call.equivalents?.some(({ category }) => category !== call.category) === true) return false;
  const { args, paths, tool } = call;
  const host = tool === "WebFetch" ? hostOf(args["url"]) : undefined;
  return grants.some(({ covers }) => {
    if (covers.domain !== undefined) return covers.domain === host;
    return covers.tool === tool && (covers.within === undefined || paths.every(({ relative }) => relative !== undefined));
  });
}

/** The host with its port, where that is not the usual one. An address with a password is not covered. */
function hostOf(url: unknown): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const { host, username, password } = new URL(url);
  return username + password === "" && host !== "" ? host : undefined;
}

// Commands

async function commandGrant(line: unknown): Promise<PrefixGrant | undefined> {
  if (typeof line !== "string") return undefined;
  const analysis = await analyseShell(line);
  const [command, ...others] = analysis.commands.filter(({ guessed }) => guessed !== true);
  if (!analysis.parsed || command === undefined || others.length > 0) return undefined;
  const prefix = prefixOf(command);
  return prefix === undefined ? undefined : { covers: { prefix } };
}

async function isCoveredCommand(line: unknown, grants: readonly PrefixGrant[]): Promise<boolean> {
  const patterns = grants.flatMap(({ covers: { prefix } }) => {
    const pattern = prefix === undefined ? undefined : compileCommandPattern(`${prefix}:*`);
    return pattern === undefined || "problem" in pattern ? [] : [pattern];
  });
  if (typeof line !== "string" || patterns.length === 0) return false;
  const analysis = await analyseShell(line);
  if (!analysis.parsed || analysis.unseen !== undefined) return false;
  if (analysis.commands.some(({ args, guessed }) => guessed !== true && args.some((word) => TELLING.test(word)))) return false;
  return "by" in commandSubject(line, analysis).cover(patterns);
}

/** Options that make programs run, load or write what they name, whatever the program. */
const TELLING =
  /^--?(?:pre|exec|eval|output|out-file|command|config-env|rcfile|init-file|plugin|require|import|loader|rsh|filter|upload-pack|receive-pack|open-files-in-pager|ext-diff|textconv|exec-path|git-dir|work-tree|hostname-bin|to-command|checkpoint-action|use-compress-program|compress-program)(?:=|$)/;

/** The beginning of a command that says enough about it; undefined where no beginning does. */
function prefixOf({ name, args, fixed }: ShellCommand): string | undefined {
  const program = baseName(name);
  if (!isPlain(name) || NEVER.has(program)) return undefined;
  if (ALONE.has(program)) return name;
  const [first] = args;
  if (first === undefined) return NAMING.has(program) ? undefined : name;
  if (first.startsWith("-") && !takesOption(program, first)) return undefined;
  const count = wordsBehind(program, first);
  const taken = args.slice(0, count);
  if (taken.length < count || count > fixed || !taken.every(isPlain)) return undefined;
  const isFree = taken.some((_, at) => NEVER.has([program, ...taken.slice(0, at + 1)].join(" ")));
  return isFree ? undefined : [name, ...taken].join(" ");
}

/** The prefix is one word, and two where the first says only that something is run. */
function wordsBehind(program: string, first: string): number {
  return DEEPER.has(`${program} ${first}`) || first === "-m" ? 2 : 1;
}

function takesOption(program: string, option: string): boolean {
  return CHECKING.has(program) || (option === "-m" && /^(?:python|pypy)[\d.]*$/.test(program));
}

/** Whether the word means itself in a pattern. */
function isPlain(word: string): boolean {
  return /^[\w@%+=:,./-]+$/.test(word);
}

/** Programs that read; the files that they read are in the rest of their words. */
const ALONE = set("ls cat head tail wc grep egrep fgrep pwd echo which type du df stat file cmp cut nl basename dirname realpath readlink");

/** The verb or the file that they are given decides what they do, and an option before it may change all of it. */
const NAMING = set(
  "git npm pnpm yarn bun cargo go docker podman nerdctl kubectl oc gh glab helm terraform pip pip3 poetry uv bundle gradle mvn dotnet deno aws gcloud az brew apt " +
    "apt-get dnf systemctl svn hg nx turbo lerna rake composer flutter dart swift rustup " +
    "python python2 python3 pypy pypy3 node nodejs ruby php java tsx ts-node lua luajit julia Rscript npx bunx pnpx uvx pipx",
);

/** Programs that check or test code, with any options. */
const CHECKING = set(
  "tsc eslint oxlint prettier biome vitest jest mocha pytest ruff mypy pyright black flake8 pylint rubocop rspec phpunit tox ctest shellcheck",
);

const DEEPER = new Set([
  ...both("npm pnpm yarn", "run run-script exec dlx"),
  ...both("bun", "run x"),
  ...both("uv poetry pipenv pdm hatch rye conda", "run"),
  ...both("bundle", "exec"),
  ...both("go", "run tool mod"),
  ...both("git", "remote stash worktree submodule bisect notes"),
  ...both("docker podman nerdctl", "compose container image volume network buildx"),
  ...both("gh glab", "pr mr issue repo run workflow release label ci"),
  ...both("deno", "task run"),
  ...both("aws gcloud az", "s3 ec2 compute container storage vm"),
  ...both("php", "artisan"),
]);

/** Programs with next words that may do anything, so the first words say nothing. */
const NEVER = new Set([
  ...set("rm rmdir unlink shred truncate mv cp ln dd install chmod chown chgrp chattr setfacl kill pkill killall mkfs fdisk mount umount"),
  ...set("curl wget http https xh nc ncat netcat socat telnet ssh scp sftp ftp rsync mosh"),
  ...set("sudo su doas env xargs find fd parallel awk gawk mawk sed perl ed ex vi vim nvim emacs nano tee sort split tar zip unzip gdb"),
  ...set("sh bash dash zsh ksh fish csh tcsh eval exec source . command builtin nohup timeout nice setsid watch trap alias time"),
  ...set(
    "crontab at batch systemd-run iptables useradd usermod passwd visudo psql mysql mariadb sqlite3 mongosh redis-cli osascript open xdg-open",
  ),
  ...both("docker podman nerdctl", "run exec cp"),
  ...both("docker podman nerdctl", "compose").flatMap((words) => [`${words} run`, `${words} exec`]),
  ...both("kubectl oc", "run exec cp debug"),
  ...both("gh glab", "api alias extension"),
  ...both("git", "config filter-branch difftool mergetool"),
  ...both("npm pnpm yarn pip pip3 go", "config"),
]);

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

function both(programs: string, verbs: string): string[] {
  return programs.split(" ").flatMap((program) => verbs.split(" ").map((verb) => `${program} ${verb}`));
}
