/** What a process costs at the moment, as the system tells it. */
import { readFileSync } from "node:fs";

export function rss(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) * 1024;
}

/** Resolves when it no longer uses any processor time: then it is held back, or done. */
export async function idle(pid: number | undefined): Promise<void> {
  const cpu = (): string => readFileSync(`/proc/${pid}/stat`, "latin1").split(" ").slice(13, 15).join();
  for (let before = ""; before !== cpu(); await new Promise((resolve) => setTimeout(resolve, 200))) before = cpu();
}
