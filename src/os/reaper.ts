/**
 * The reaper: a tiny shell that holds the end of a pipe. When we die, whatever killed us, it reads the end of that pipe and ends
 * the process groups that we had open. Started with the first child; it costs one idle `sh`.
 */
import { spawn, type ChildProcess } from "node:child_process";

/**
 * Lines on its input: `+ PID TAG` opens a group, `- PID TAG` closes it; PID is 0 while only the tag is known. At the end of input: TERM,
 * one second, KILL, tags included. One look at all processes finds what wears any of the tags: there may be thousands of either.
 */
const SCRIPT = `
trap '' TERM INT HUP
open=' '
while read -r op pid tag; do
  case $op in
    +) open="$open$pid:$tag " ;;
    -) case $open in *" $pid:$tag "*) open="\${open%% $pid:$tag *} \${open#* $pid:$tag }" ;; esac ;;
  esac
done
[ "$open" = ' ' ] && exit 0
sweep() {
  set -- "$1"
  for entry in $open; do
    [ "\${entry%%:*}" = 0 ] || kill -"$1" -"\${entry%%:*}" 2>/dev/null
    set -- "$@" -e "PARLEY_TREE=\${entry#*:}"
  done
  signal=$1; shift
  for environ in $(grep -lF "$@" /proc/[0-9]*/environ 2>/dev/null); do
    stray=\${environ#/proc/}; kill -"$signal" "\${stray%/environ}" 2>/dev/null
  done
}
sweep TERM; sleep 1; sweep KILL
`;

let reaper: ChildProcess | undefined;

export interface Watched {
  /** The first process of the tree; its group is watched too from now on. */
  started(pid: number): void;
  /** Takes the tree out again. */
  release(): void;
}

/**
 * Puts a tree under the reaper's eye, before there is one: whoever kills us right after the start must not leave an orphan. Without a
 * shell there is no reaper.
 */
export function watch(tag: string): Watched {
  if (process.platform === "win32") return { started() {}, release() {} };
  reaper ??= start();
  const { stdin } = reaper;
  let known: number | undefined = 0;
  stdin?.write(`+ 0 ${tag}\n`);
  return {
    started(pid) {
      stdin?.write(`+ ${pid} ${tag}\n- ${known ?? 0} ${tag}\n`);
      known = pid;
    },
    release() {
      if (known !== undefined) stdin?.write(`- ${known} ${tag}\n`);
      known = undefined;
    },
  };
}

function start(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true, env: { PATH: "/usr/bin:/bin" } });
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  child.unref();
  if (child.stdin !== null && "unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref();
  return child;
}
