/**
 * The reaper: a tiny shell that holds the end of a pipe. When we die, whatever killed us, it reads the end of that pipe and ends
 * the process groups that we had open. Started with the first child; it costs one idle `sh`.
 */
import { spawn, type ChildProcess } from "node:child_process";

/** Lines on its input: `+ PID TAG` opens a group, `- PID TAG` closes it. At the end of input: TERM, one second, KILL, tags included. */
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
  for entry in $open; do
    kill -"$1" -"\${entry%%:*}" 2>/dev/null
    for environ in /proc/[0-9]*/environ; do
      if grep -qa "PARLEY_TREE=\${entry#*:}" "$environ" 2>/dev/null; then
        stray=\${environ#/proc/}; kill -"$1" "\${stray%/environ}" 2>/dev/null
      fi
    done
  done
}
sweep TERM; sleep 1; sweep KILL
`;

let reaper: ChildProcess | undefined;

/** Puts a group under the reaper's eye; the returned function takes it out again. Without a shell there is no reaper. */
export function watch(pid: number, tag: string): () => void {
  if (process.platform === "win32") return () => {};
  reaper ??= start();
  const mine = reaper;
  mine.stdin?.write(`+ ${pid} ${tag}\n`);
  let watched = true;
  return () => {
    if (watched) mine.stdin?.write(`- ${pid} ${tag}\n`);
    watched = false;
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
