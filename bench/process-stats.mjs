/** The system's figures of a running process. Linux tells it in /proc; elsewhere the answers are undefined and the figures left out. */
import { readdirSync, readFileSync } from "node:fs";

/** Milliseconds of CPU so far, all threads. */
export function cpuOf(pid) {
  return cpuByScheduler(pid) ?? cpuByTicks(pid);
}

/** Megabytes: the most it ever had resident, and what it has now. */
export function memoryOf(pid) {
  const status = read(`/proc/${pid}/status`);
  const field = (name) => {
    const found = status?.match(new RegExp(`^${name}:\\s+(\\d+) kB`, "m"));
    return found ? Number(found[1]) / 1024 : undefined;
  };
  return { peak: field("VmHWM"), now: field("VmRSS") };
}

/** In nanoseconds where the kernel keeps that. */
function cpuByScheduler(pid) {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`).map((task) => read(`/proc/${pid}/task/${task}/schedstat`));
    if (tasks.includes(undefined)) return undefined;
    const total = tasks.reduce((sum, text) => sum + Number(text.split(" ")[0]), 0);
    return total > 0 ? total / 1e6 : undefined;
  } catch {
    return undefined;
  }
}

/** In ticks, a hundredth of a second each. */
function cpuByTicks(pid) {
  const fields = read(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, "")
    .split(" ");
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) * 10;
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
