/** `parley completion`: scripts for shells, made from the tables of commands and flags. */
import { PROVIDERS } from "../../core/providers/providers.js";
import { dialectIds } from "../../dialects/index.js";
import { optionsOf, ROWS } from "../../settings/table.js";
import { COMMANDS, type Command } from "../command-line/commands.js";
import { COMMON_FLAGS, usage, type Flag } from "../command-line/flags.js";

const SHELLS = ["bash", "zsh", "fish"] as const;

export function completionFor(shell: string | undefined): string {
  switch (SHELLS.find((known) => known === shell)) {
    case "bash":
      return bash();
    case "zsh":
      return zsh();
    case "fish":
      return fish();
    default:
      throw usage(
        `${shell === undefined ? "For which shell?" : `There is no completion for '${shell}'.`} parley completion ${SHELLS.join(", ")}`,
      );
  }
}

interface Completed {
  name: string;
  summary: string;
  /** The words that may come next: commands below this one, or fixed arguments. */
  words: readonly string[];
  flags: readonly Flag[];
}

function commands(): Completed[] {
  return COMMANDS.map((command) => ({
    name: command.name,
    summary: command.summary,
    words: [...new Set([...wordsBelow(command), ...argumentsOf(command)])],
    flags: [...command.flags, ...COMMON_FLAGS].filter(({ hidden }) => hidden !== true),
  }));
}

function wordsBelow({ name: above }: Command): string[] {
  const depth = above === "" ? 0 : above.split(" ").length;
  const below = COMMANDS.filter(({ name }) => name !== above && (above === "" || name.startsWith(`${above} `)));
  const words = below.map(({ name }) => name.split(" ")[depth] ?? "");
  return [...new Set(above === "" ? [...words, "help"] : words)];
}

/** Words that the usage offers as they are, and names of providers and dialects. */
function argumentsOf({ name, usage: line }: Command): string[] {
  const rest = line.slice(`parley ${name}`.trimEnd().length);
  const fixed = [...rest.matchAll(/(?:^|[[|])\s*([a-z]+)(?=[\s\]|]|$)/g)].map(([, word = ""]) => word);
  if (/\bPROVIDER\b/.test(rest)) fixed.push(...Object.keys(PROVIDERS));
  if (/\bDIALECT\b/.test(rest) && !/--\w+ DIALECT/.test(rest)) fixed.push(...dialectIds);
  return fixed.filter((word) => word !== "flags");
}

/** The values of a flag, where there is a list of them. */
function valuesOf({ name }: Flag): readonly string[] {
  if (name === "provider") return Object.keys(PROVIDERS);
  if (["dialect", "as", "drive"].includes(name)) return dialectIds;
  const row = ROWS.find(([, { flag }]) => flag?.name === name)?.[1];
  return row === undefined ? [] : optionsOf(row.schema);
}

function namesOf({ name, short, alias }: Flag): string[] {
  return [`--${name}`, ...(alias === undefined ? [] : [`--${alias}`]), ...(short === undefined ? [] : [`-${short}`])];
}

/** Functions of the shell that bash and zsh read alike: what follows a command, its flags, and the values of a flag. */
function tables(): string {
  const all = commands();
  const withValues = new Map(all.flatMap(({ flags }) => flags.filter(({ value }) => value !== undefined)).map((flag) => [flag.name, flag]));
  const listed = [...withValues.values()].map((flag) => ({ names: namesOf(flag), values: valuesOf(flag) }));
  return [
    `_parley_words() {\n  case "$1" in\n${all.map(({ name, words }) => `    ${quoted(name)}) echo ${quoted(words.join(" "))} ;;\n`).join("")}    *) return 1 ;;\n  esac\n}`,
    `_parley_flags() {\n  case "$1" in\n${all.map(({ name, flags }) => `    ${quoted(name)}) echo ${quoted(flags.flatMap(namesOf).join(" "))} ;;\n`).join("")}  esac\n}`,
    // Without a list the value is a file, or anything.
    `_parley_values() {\n  case "$1" in\n${listed.map(({ names, values }) => `    ${names.join("|")}) echo ${quoted(values.join(" "))} ;;\n`).join("")}    *) return 1 ;;\n  esac\n}`,
  ].join("\n");
}

/** The command is the longest one that the words before the cursor begin with. */
const COMMAND = `  local command="" words
  if _parley_words "$one $two" > /dev/null; then command="$one $two"
  elif _parley_words "$one" > /dev/null; then command="$one"
  fi`;

function bash(): string {
  return `# Completion of parley for bash: eval "$(parley completion bash)"
${tables()}
_parley() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="" one="" two="" values
  COMPREPLY=()
  if ((COMP_CWORD > 0)); then prev="\${COMP_WORDS[COMP_CWORD - 1]}"; fi
  if ((COMP_CWORD > 1)); then one="\${COMP_WORDS[1]}"; fi
  if ((COMP_CWORD > 2)); then two="\${COMP_WORDS[2]}"; fi
${COMMAND}
  if [[ "$cur" != -* ]] && values="$(_parley_values "$prev")"; then
    COMPREPLY=($(compgen -W "$values" -- "$cur"))
    return
  fi
  case "$cur" in
    -*) words="$(_parley_flags "$command")" ;;
    *) words="$(_parley_words "$command")" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _parley parley
`;
}

function zsh(): string {
  return `#compdef parley
# Completion of parley for zsh: eval "$(parley completion zsh)", behind compinit
${tables()}
_parley() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT - 1]}" one="" two="" values offered
  if ((CURRENT > 2)); then one="\${words[2]}"; fi
  if ((CURRENT > 3)); then two="\${words[3]}"; fi
${COMMAND.replace(" words", "")}
  if [[ "$cur" != -* ]] && values="$(_parley_values "$prev")"; then
    if [[ -n "$values" ]]; then compadd -- \${=values}; else _files; fi
    return
  fi
  case "$cur" in
    -*) offered="$(_parley_flags "$command")" ;;
    *) offered="$(_parley_words "$command")" ;;
  esac
  if [[ -n "$offered" ]]; then compadd -- \${=offered}; else _files; fi
}
compdef _parley parley
`;
}

function fish(): string {
  const all = commands();
  const top = all.find(({ name }) => name === "")?.words ?? [];
  const lines = all.flatMap((command) => [...fishWords(command, all), ...fishFlags(command, top)]);
  return `# Completion of parley for fish: parley completion fish | source\n${lines.join("\n")}\n`;
}

function fishWords({ name, words }: Completed, all: readonly Completed[]): string[] {
  const condition =
    name === "" ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${words.join(" ")}`;
  if (name.includes(" ") || words.length === 0) return [];
  return words.map((word) => {
    const summary = all.find((command) => command.name === `${name} ${word}`.trimStart())?.summary ?? "";
    return `complete -c parley -n ${quoted(condition)} -a ${word}${summary === "" ? "" : ` -d ${quoted(summary)}`}`;
  });
}

function fishFlags({ name, flags }: Completed, top: readonly string[]): string[] {
  const seen = name.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`);
  const condition = name === "" ? `not __fish_seen_subcommand_from ${top.join(" ")}` : seen.join("; and ");
  return flags.map((flag) => {
    const { name: long, short, alias, value, help } = flag;
    const values = valuesOf(flag);
    const takes = value === undefined ? "" : values.length > 0 ? ` -x -a ${quoted(values.join(" "))}` : " -r";
    const names = [`-l ${long}`, ...(alias === undefined ? [] : [`-l ${alias}`]), ...(short === undefined ? [] : [`-s ${short}`])];
    return `complete -c parley -n ${quoted(condition)} ${names.join(" ")}${takes} -d ${quoted(help)}`;
  });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
