/** Programs that run the rest of their arguments: the options of each, and so the position of the inner command. */
import { sure, type ShellWord } from "./words.js";

type Words = readonly ShellWord[];

/** Short options as letters, long ones by name; an option with a value takes the next word, or the rest of its own. */
interface Wrapper {
  flags?: string;
  valued?: string;
  long?: readonly string[];
  longValued?: readonly string[];
  /** The number of operands before the command. */
  operands?: number;
  /** `NAME=value` words may come before the command. */
  assignments?: boolean;
}

export const WRAPPERS: Record<string, Wrapper> = {
  // No program, and no reserved word behind a redirection: but bash 5.2 writes a substitution anew with its redirections at the end.
  "!": {},
  builtin: {},
  command: { flags: "p" },
  doas: { flags: "Ln", valued: "Cu" },
  env: {
    flags: "iv0",
    valued: "uC",
    long: ["ignore-environment", "null", "debug"],
    longValued: ["unset", "chdir"],
    assignments: true,
  },
  exec: { flags: "cl", valued: "a" },
  nice: { flags: "0123456789", valued: "n", longValued: ["adjustment"] },
  nohup: {},
  setsid: { flags: "cfw", long: ["ctty", "fork", "wait"] },
  stdbuf: { valued: "ioe", longValued: ["input", "output", "error"] },
  sudo: {
    flags: "ABbEHnPS",
    valued: "CDghpRrtTUu",
    long: ["background", "non-interactive", "preserve-env", "set-home", "stdin"],
    longValued: ["user", "group", "host", "chdir", "chroot", "prompt", "role", "type", "command-timeout"],
    assignments: true,
  },
  time: { flags: "apqv", valued: "fo", long: ["append", "portability", "quiet", "verbose"], longValued: ["format", "output"] },
  timeout: {
    flags: "fpv",
    valued: "ks",
    long: ["foreground", "preserve-status", "verbose"],
    longValued: ["kill-after", "signal"],
    operands: 1,
  },
  watch: {
    flags: "bCcdegprtwx",
    valued: "nqs",
    long: ["beep", "color", "no-color", "differences", "errexit", "chgexit", "precise", "no-title", "no-wrap", "exec"],
    longValued: ["interval", "equexit"],
  },
  xargs: {
    flags: "0oprtxeil",
    valued: "adEILnPs",
    long: ["null", "no-run-if-empty", "interactive", "verbose", "exit", "open-tty", "show-limits", "eof", "max-lines", "replace"],
    longValued: ["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
  },
};

/** The words after the wrapper's own options; undefined if one of these is unknown. */
export function innerCommand(words: Words, name: string): { inner: Words; options: Words; assignments: boolean } | undefined {
  const { operands = 0, assignments: assigning = false, ...options } = WRAPPERS[name] ?? {};
  let at = 1;
  let assignments = false;
  for (let ended = false; !ended && at < words.length;) {
    const value = sure(words, at, name);
    if (assigning && isAssignment(value)) {
      assignments = true;
      at += 1;
    } else if (value === "--") {
      ended = true;
      at += 1;
    } else if (value === "-" && name === "env") at += 1;
    else if (value.startsWith("-") && value !== "-") {
      const taken = optionWidth(value, options);
      if (taken === 0) return undefined;
      for (let skipped = 1; skipped < taken; skipped++) sure(words, at + skipped, name);
      at += taken;
    } else ended = true;
  }
  while (assigning && at < words.length && isAssignment(sure(words, at, name))) {
    assignments = true;
    at += 1;
  }
  for (let operand = 0; operand < operands; operand++) sure(words, at + operand, name);
  return { inner: words.slice(at + operands), options: words.slice(1, at), assignments };
}

/** For env and sudo a variable may have any name. */
function isAssignment(word: string): boolean {
  return /^[^-=][^=]*=/.test(word);
}

/** The number of words that an option takes, itself included; 0 if it is unknown. */
function optionWidth(word: string, { flags = "", valued = "", long = [], longValued = [] }: Wrapper): number {
  if (word.startsWith("--")) {
    const [name = "", attached] = word.slice(2).split("=", 2);
    if (longValued.includes(name)) return attached === undefined ? 2 : 1;
    return long.includes(name) ? 1 : 0;
  }
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at);
    if (valued.includes(letter)) return at === word.length - 1 ? 2 : 1;
    if (!flags.includes(letter)) return 0;
    // The optional values of xargs -e, -i and -l are always attached.
    if ("eil".includes(letter) && flags.endsWith("eil")) return 1;
  }
  return 1;
}
