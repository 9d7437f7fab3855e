/**
 * Programs that run others given in some of their words, and do much else: `npm exec`, `docker run`, `ssh host`. The position of the command is a
 * guess, so it counts for deny and ask rules only; an allow rule is about the runner itself.
 */
import { baseName, type ShellWord } from "./words.js";

type Words = readonly ShellWord[];

/** The words behind which a command may begin; `true`: any word behind the first. */
const RUNNERS: Record<string, readonly string[] | true> = {
  ...each("npx bunx pnpx uvx pipx ssh mosh autossh rsh dbclient plink dotenv doppler dotenvx cross-env cross-env-shell env-cmd", true),
  ...each("nodemon watchexec concurrently npm-run-all run-s run-p onchange chokidar chamber envchain infisical op foreman overmind", true),
  ...each("wsl cmd", true),
  ...each("npm pnpm yarn bun", ["exec", "exe", "x", "dlx", "explore"]),
  ...each("uv poetry pipenv pdm hatch rye pixi conda mamba micromamba flatpak devbox volta fnm toolbox heroku", ["run", "exec"]),
  ...each("mise rtx", ["exec", "x", "run"]),
  ...each("bundle asdf direnv aws-vault rbenv pyenv nodenv goenv opam stack cabal dune lerna nvm sops ip devcontainer", [
    "exec",
    "exec-env",
    "run",
  ]),
  ...each("docker docker-compose podman podman-compose nerdctl kubectl oc lxc incus singularity apptainer machinectl", [
    "run",
    "exec",
    "debug",
    "rsh",
    "shell",
  ]),
  ...each("nix nix-shell guix", ["--command", "-c", "--run", "--", "run"]),
  ...each("fd fdfind", ["-x", "-X", "--exec", "--exec-batch"]),
  ...each("cmake", ["env", "time", "chdir"]),
  ...each("perf", ["stat", "record", "trace", "mem", "lock", "sched", "c2c", "kvm"]),
  ...each("bpftrace", ["-c"]),
  ...each("coverage", ["-m"]),
  ...each("ansible", ["-a", "--args"]),
  ...each("vagrant gcloud", ["ssh"]),
  ...each("adb", ["shell"]),
  ...each("rvm", ["do"]),
};

function each<T>(names: string, value: T): Record<string, T> {
  return Object.fromEntries(names.split(" ").map((name) => [name, value]));
}

type Guess = { words: Words } | { script: string };

/** One at a time: there may be too many to list. */
export function* guesses(words: Words): Generator<Guess> {
  const name = baseName(words[0]?.value ?? "");
  yield* moduleCommand(name, words);
  if (name === "git") yield* forEachRepository(words);
  if (name.startsWith("git-"))
    yield { words: [...["git", name.slice(4)].map((value) => ({ value, kind: "literal" as const })), ...words.slice(1)] };
  const verbs = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  if (verbs === undefined) return;
  const from = verbs === true ? 0 : words.findIndex(({ value }, at) => at > 0 && verbs.includes(value));
  if (from < 0) return;
  // The host of ssh is not the command.
  const first = from + (name === "ssh" || name === "mosh" ? 2 : 1);
  for (const [at, { value, kind }] of words.entries()) {
    if (at < first || kind !== "literal") continue;
    const attached = /^--[\w-]+=(.+)$/s.exec(value)?.[1];
    if (attached !== undefined) yield { script: attached };
    if (value.startsWith("-")) continue;
    yield { words: words.slice(at) };
    if (/\s/.test(value)) yield { script: value };
  }
}

/** `git for-each-repo --config=x push` runs `git push`. */
function forEachRepository(words: Words): Guess[] {
  const at = words.findIndex(({ value }) => value === "for-each-repo");
  const [git] = words;
  if (at < 0 || git === undefined) return [];
  const behind = words.slice(at + 1);
  return behind.flatMap(({ value }, from) => (value.startsWith("-") ? [] : [{ words: [git, ...behind.slice(from)] }])).slice(0, 4);
}

/** `python3 -m pip install x` is `pip install x`. */
function moduleCommand(name: string, words: Words): Guess[] {
  if (!/^(?:python|pypy)[\d.]*$|^py$/.test(name)) return [];
  const at = words.findIndex(({ value }) => /^-[a-bd-ln-zA-Z]*m/.test(value));
  const attached = /^-[a-zA-Z]*?m(.+)$/s.exec(words[at]?.value ?? "")?.[1];
  if (at < 0) return [];
  return [{ words: attached === undefined ? words.slice(at + 1) : [{ value: attached, kind: "literal" }, ...words.slice(at + 1)] }];
}
