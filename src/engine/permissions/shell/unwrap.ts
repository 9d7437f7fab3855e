/**
 * Finds the commands that a command runs: `sudo rm x` runs `rm x`, `bash -c '…'` runs a script, `find -exec` runs many.
 *
 * Programs with known options are unwrapped exactly. With an unknown option, or for a program of `LOOSE`, every word that could
 * be the inner command is listed: too many for an allow rule to cover, enough for a deny rule to find. A command that is known only
 * at the run (`bash -c "$x"`, `sudo $x`, a shell that reads its script from a pipe) is `Unreadable`.
 */
import { baseName, isStream, quoted, sure, Unreadable, type ShellWord } from "./words.js";
import { innerCommand, WRAPPERS } from "./wrappers.js";

/** `unknown`: it may run a command known only at the run. `unseen`: it runs code of a language that we do not read. */
export type Inner = { words: readonly ShellWord[]; assignments?: boolean } | { script: string } | { unknown: string } | { unseen: string };

type Words = readonly ShellWord[];

export function unwrap(words: Words): Inner[] {
  const name = baseName(words[0]?.value ?? "");
  if (SHELLS.has(name) || SHELLS.has(name.replace(/-?[\d.]+$/, ""))) return shellScript(words, name);
  if (FOREIGN_SHELLS.has(name)) return foreignScript(words);
  if (STARTERS.has(name)) return [...everyReading(words), ...ownShell(words, name)];
  if (LOOSE.has(name) || LOADER.test(name)) return everyReading(words);
  switch (name) {
    case "eval":
      return [{ script: literalText(words.slice(words[1]?.value === "--" ? 2 : 1), "eval") }];
    case "trap":
      return trapAction(words);
    case "alias":
      return aliasValues(words);
    case "source":
    case ".":
      return sourced(words);
    case "find":
      return findActions(words);
    case "xargs":
      return xargsCommand(words);
    case "watch":
      return watched(words);
    case "command":
      return /^-[pvV]*[vV]/.test(words[1]?.value ?? "") ? [] : wrapped(words, name);
    case "enable":
      return words.some(({ value }) => /^-[a-z]*f/.test(value)) ? [{ unseen: "enable loads a program into the shell" }] : [];
    case "hash":
      return hashedPaths(words);
    case "jobs":
      return words[1]?.value === "-x" ? [{ words: words.slice(2) }] : [];
    case "mapfile":
    case "readarray":
    case "bind":
    case "compgen":
    case "complete":
    case "fc":
      return callbacks(words, name);
    default:
      return Object.hasOwn(WRAPPERS, name) ? wrapped(words, name) : [];
  }
}

// Programs that run the rest of their arguments

const LOOSE = new Set(
  (
    "coproc busybox toybox bwrap chrt caffeinate dbus-run-session entr flock gosu ionice ltrace numactl parallel pkexec prlimit rlwrap " +
    "setarch start-stop-daemon strace su-exec systemd-run taskset unbuffer xvfb-run linux32 linux64 i386 x86_64 uname26 setpriv choom " +
    "ssh-agent uclampset coresched catchsegv valgrind faketime cpulimit cgexec chpst setuidgid softlimit envdir envuidgid runcon sem " +
    "tmux screen xterm dbus-launch proxychains proxychains4 torsocks chronic ifne mispipe lckdo hyperfine gtime ccache sccache distcc " +
    "logsave setlock aa-exec arch multitime torify sshpass eatmydata scriptlive systemd-inhibit capsh pidproxy daemonize cttyhack " +
    "openvt"
  ).split(" "),
);

/** Without a command they start a shell, which reads its commands from the input. */
const STARTERS = new Set("su sg newgrp runuser chroot script unshare nsenter fakeroot fakechroot proot firejail".split(" "));

function ownShell(words: Words, name: string): Inner[] {
  const operands = words.slice(1).filter(({ value, kind }) => kind !== "literal" || !value.startsWith("-"));
  return operands.length < 2 ? [{ unseen: `${name} may start a shell that reads its commands from its input` }] : [];
}

/** The dynamic loader runs the program it is given. */
const LOADER = /^ld(?:-[\w.-]+)?\.so(?:\.\d+)*$/;

function wrapped(words: Words, name: string): Inner[] {
  const found = innerCommand(words, name);
  if (found === undefined) return everyReading(words);
  return found.inner.length === 0 ? [] : [{ words: found.inner, assignments: found.assignments }];
}

function everyReading(words: Words): Inner[] {
  if (words.length > 64) throw new Unreadable(`${words[0]?.value ?? ""} has too many words to tell which of them it runs`);
  const found: Inner[] = [];
  const name = baseName(words[0]?.value ?? "");
  for (const [at, { value, kind }] of words.entries()) {
    if (at === 0) continue;
    if (kind !== "literal" || isAttached(value)) found.push({ unknown: `what ${quoted(value)} runs is not known` });
    else if (!value.startsWith("-")) found.push({ words: words.slice(at) });
    if (kind === "literal" && value !== "{}" && /[^\w@%+=:,./-]/.test(value)) found.push({ script: value });
    const attached = kind === "literal" && isAttached(value) ? /^(?:--[a-z-]+=|-[a-zA-Z]*?[cS])(.+)$/s.exec(value)?.[1] : undefined;
    if (attached !== undefined) found.push({ script: attached });
    // In text that env splits, `a-b=1` is an assignment.
    const split = attached ?? (/^-[a-zA-Z]*S$|^--s[a-z-]*$/.test(words[at - 1]?.value ?? "") ? value : undefined);
    if (split !== undefined && name === "env" && /^\s*[^\s=]*[^\w\s=][^\s=]*=/.test(split)) found.push({ script: `env ${split}` });
  }
  return found.length === 0 ? [{ unknown: `what ${words[0]?.value ?? ""} runs is not known` }] : found;
}

/** For example `su -c'rm x'`, `env -S'rm x'`, `script --command=rm` and, shortened, `env --spl=rm`: the command is part of an option. */
function isAttached(option: string): boolean {
  const [, long] = /^--([a-z-]+)=/.exec(option) ?? [];
  if (long !== undefined && ["command", "split-string", "session-command"].some((name) => name.startsWith(long))) return true;
  return /^-.*\s|^-[a-zA-Z]*[cS].|^--[a-z-]*(?:command|split)/s.test(option);
}

function watched(words: Words): Inner[] {
  const found = innerCommand(words, "watch");
  if (found === undefined) return everyReading(words);
  if (found.inner.length === 0) return [];
  const direct = found.options.some(({ value }) => value === "--exec" || /^-[a-zA-Z]*x/.test(value));
  return direct ? [{ words: found.inner }] : [{ script: literalText(found.inner, "watch") }];
}

/** The inner command also gets words from the input, at its end or in place of a marker. */
function xargsCommand(words: Words): Inner[] {
  const input: ShellWord = { value: "", kind: "expansion" };
  const found = innerCommand(words, "xargs");
  if (found === undefined) return everyReading(words).map((inner) => ("words" in inner ? { words: [...inner.words, input] } : inner));
  if (found.inner.length === 0) return [];
  const marker = xargsMarker(found.options);
  return [{ words: marker === undefined ? [...found.inner, input] : replacing(found.inner, marker) }];
}

function xargsMarker(options: Words): string | undefined {
  let marker: string | undefined;
  for (const [at, { value }] of options.entries()) {
    if (value.startsWith("--replace")) marker = value.slice("--replace=".length) || "{}";
    const short = /^-[0oprtx]*([Ii])(.*)$/s.exec(value);
    if (short?.[1] === "i") marker = short[2] || "{}";
    if (short?.[1] === "I") marker = short[2] || (options[at + 1]?.value ?? "{}");
  }
  return marker;
}

/** `operand`: the replacement of the marker never begins with a dash. */
function replacing(words: Words, marker: string, operand = false): Words {
  return words.map((word) => {
    if (!word.value.includes(marker)) return word;
    const begins = word.value.startsWith(marker) ? operand : !word.value.startsWith("-");
    return { value: word.value, kind: "expansion", ...(begins && { operand: true }) };
  });
}

/** Every path of find's output begins with a given folder, or with `./`. */
function plainRoots(words: Words): boolean {
  return words.every(({ kind, operand }) => kind === "literal" || operand === true);
}

/** `find … -exec cmd {} ;`. An expansion among find's words could bring an -exec of its own. */
function findActions(words: Words): Inner[] {
  const unsure = words.find(({ kind }) => kind === "expansion");
  const found: Inner[] = unsure === undefined ? [] : [{ unknown: `find gets ${quoted(unsure.value)}, which is only known when it runs` }];
  for (let at = 1; at < words.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(words[at]?.value ?? "")) continue;
    const start = at + 1;
    while (at < words.length && words[at]?.value !== ";" && !(words[at]?.value === "+" && words[at - 1]?.value === "{}")) at++;
    if (at > start) found.push({ words: replacing(words.slice(start, at), "{}", plainRoots(words)) });
  }
  return found;
}

// Programs that run text

const SHELLS = new Set("sh bash dash zsh ksh ash mksh rbash lksh pdksh yash posh hush osh rksh rzsh".split(" "));

function shellScript(words: Words, program: string): Inner[] {
  const name = words[0]?.value ?? "";
  let isText = false;
  let at = 1;
  for (; at < words.length; at++) {
    const value = sure(words, at, name);
    if (value === "--" || value === "-") {
      at += 1;
      break;
    }
    if (!/^[-+]/.test(value)) break;
    if (value.startsWith("--")) {
      if (value === "--rcfile" || value === "--init-file") refuseStream(sure(words, ++at, name), name);
      continue;
    }
    if (value.startsWith("-") && value.includes("c")) isText = true;
    if (value.includes("s")) throw new Unreadable(`${name} reads its commands from its input`);
    // Shells other than bash take `-oNAME` in one word, so it is not certain which words are options.
    if (/o./i.test(value) && !/^r?bash$/.test(baseName(name))) return everyReading(words);
    for (let names = value.match(/o/gi)?.length ?? 0; names > 0; names--) sure(words, ++at, name);
  }
  if (at >= words.length) throw new Unreadable(`${name} reads its commands from its input`);
  const operand = sure(words, at, name);
  if (isText) return [{ script: operand }, ...dialect(operand, program)];
  refuseStream(operand, name);
  return [];
}

/** `sh -c 'ls &> a rm x'` runs rm where sh is not bash, and zsh expands `=rm`. */
function dialect(script: string, program: string): Inner[] {
  const other = /^r?(?:z|k|mk|lk|pdk|ya)sh/.test(program) ? /(?:^|[\s;|&])=|[~^({[]/ : /&>|\[\[|(?:^|[^$(])\(\(|\$'/;
  return /^r?bash/.test(program) || !other.test(script) ? [] : [{ unseen: `${program} may read ${quoted(script)} otherwise than bash` }];
}

const FOREIGN_SHELLS = new Set("csh tcsh fish nu elvish xonsh rc es".split(" "));

/** Their language is similar enough to find a command in it, and too different to be sure that there is no other. */
function foreignScript(words: Words): Inner[] {
  const [name, first, ...rest] = words;
  if (first?.kind === "literal" && !first.value.startsWith("-") && !isStream(first.value)) return [];
  const unknown = `what ${name?.value ?? ""} runs is not known`;
  const texts = [first, ...rest].flatMap((word) => (word?.kind === "literal" && !word.value.startsWith("-") ? [word.value] : []));
  return [...texts.map((script) => ({ script })), { unknown }];
}

function sourced(words: Words): Inner[] {
  const name = words[0]?.value ?? "";
  for (let at = 1; at < words.length; at++) {
    if (at === 1 || words[at - 1]?.value === "--") refuseStream(sure(words, at, name), name);
  }
  return [];
}

function refuseStream(path: string, name: string): void {
  if (isStream(path)) throw new Unreadable(`${name} reads its commands from ${quoted(path)}`);
}

/** `trap '' INT`, `trap - INT` and `trap INT` run nothing. */
function trapAction(words: Words): Inner[] {
  const rest = words[1]?.value === "--" ? words.slice(2) : words.slice(1);
  if (rest.length === 0) return [];
  const action = sure(rest, 0, "trap");
  if (rest.length < 2 && /^\w+$/.test(action)) return [];
  return action === "-" || /^-[lpP]+$/.test(action) ? [] : [{ script: action }];
}

/** An alias hides a command behind another name, so its value counts as run. */
function aliasValues(words: Words): Inner[] {
  const found: Inner[] = [];
  for (let at = 1; at < words.length; at++) {
    const value = sure(words, at, "alias");
    const equals = value.indexOf("=");
    if (equals > 0) found.push({ script: value.slice(equals + 1) });
  }
  return found;
}

/** `hash -p /bin/rm ls` hides a program behind another name, so it counts as run. */
function hashedPaths(words: Words): Inner[] {
  return words.flatMap((word, at) => {
    const attached = /^-[a-z]*p(.*)$/s.exec(word.value)?.[1];
    const path = attached === "" ? words[at + 1] : attached === undefined ? undefined : { ...word, value: attached };
    return path === undefined ? [] : [{ words: [path] }];
  });
}

/** Builtins that can run text: the time of the run decides which, so it is not followed. */
function callbacks(words: Words, name: string): Inner[] {
  if (name.endsWith("file") || name === "readarray") {
    if (!words.some(({ value, kind }) => kind === "expansion" || /^-[a-zA-Z]*C/.test(value))) return [];
  }
  throw new Unreadable(`${name} can run text of its own`);
}

function literalText(words: Words, name: string): string {
  return words.map((_, at) => sure(words, at, name)).join(" ");
}
