/** What processes cost at the moment, as the system tells it. */
import { readdirSync, readFileSync } from "node:fs";

const LOOK_MS = 100;

export function rss(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) * 1024;
}

/**
 * Resolves when none of them has used any processor time since the last look, nor wants any: then they are held back, or done. On a busy
 * machine who does not run may only be waiting for its share.
 */
export async function allIdle(pids: () => readonly number[]): Promise<void> {
  const look = (): string => pids().flatMap(threads).join();
  for (let before = "", now = look(); before !== now || /[RD]/.test(now); now = look()) {
    before = now;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

export function idle(pid: number | undefined): Promise<void> {
  return allIdle(() => (pid === undefined ? [] : [pid]));
}

/** State and time of each thread. */
function threads(pid: number): string[] {
  const folder = `/proc/${pid}/task`;
  return read(() => readdirSync(folder), []).map((thread) => {
    const stat = read(() => readFileSync(`${folder}/${thread}/stat`, "latin1"), "");
    const [state, ...counts] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return `${state} ${counts.slice(10, 12).join("+")}`;
  });
}

/** It may be gone by now. */
function read<T>(from: () => T, otherwise: T): T {
  try {
    return from();
  } catch {
    return otherwise;
  }
}
