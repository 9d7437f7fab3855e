/**
 * Programs that run others on some of their words, and do much else: `npm exec`, `docker run`, `ssh host`. Which word is the command is a
 * guess, so it counts for deny and ask rules alone; an allow rule is about the runner itself.
 */
import { baseName, type ShellWord } from "./shell-words.js";

type Words = readonly ShellWord[];

/** The words behind which a command may stand; `true` where that is any word behind the first. */
const RUNNERS: Record<string, readonly string[] | true> = {
  ...each("npx bunx pnpx uvx ssh mosh dotenv doppler", true),
  ...each("npm pnpm yarn bun", ["exec", "x", "dlx"]),
  ...each("uv poetry pipenv pdm hatch rye conda mamba micromamba pipx", ["run"]),
  ...each("bundle mise asdf direnv aws-vault", ["exec"]),
  ...each("docker podman nerdctl kubectl oc", ["run", "exec"]),
};

function each<T>(names: string, value: T): Record<string, T> {
  return Object.fromEntries(names.split(" ").map((name) => [name, value]));
}

/** Later words are not looked at: nobody's command stands so far behind. */
const FURTHEST = 64;

export function guesses(words: Words): ({ words: Words } | { script: string })[] {
  const name = baseName(words[0]?.value ?? "");
  const verbs = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  if (verbs === undefined) return [];
  const from = verbs === true ? 0 : words.findIndex(({ value }, at) => at > 0 && verbs.includes(value));
  if (from < 0) return [];
  // The host that ssh goes to is no command.
  const first = from + (name === "ssh" || name === "mosh" ? 2 : 1);
  return words.slice(0, FURTHEST).flatMap(({ value, kind }, at) => {
    if (at < first || kind !== "literal" || value.startsWith("-")) return [];
    return [{ words: words.slice(at) }, ...(/\s/.test(value) ? [{ script: value }] : [])];
  });
}
