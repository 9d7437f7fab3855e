/** Ends a command that a tool waits for: by itself, at its time limit, or with the turn. */
import type { Running } from "./workspace.js";

const TIMEOUT_GRACE_MS = 2000;
const INTERRUPT_GRACE_MS = 500;

type Ending = "interrupted" | "timed out" | Awaited<Running["exited"]>;

/** Waits for the command, its time limit or an interrupt, and ends the tree for the latter two; at its limit it may also be kept. */
export async function endingOf(running: Running, timeoutMs: number, signal: AbortSignal, atLimit: "end" | "keep" = "end"): Promise<Ending> {
  let stop = (): void => undefined;
  const interrupted = new Promise<"interrupted">((resolve) => {
    stop = () => resolve("interrupted");
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"timed out">((resolve) => {
    timer = setTimeout(() => resolve("timed out"), timeoutMs);
  });
  try {
    const ending = await Promise.race([interrupted, running.exited, late]);
    const last =
      ending === "timed out" && atLimit === "end"
        ? await Promise.race([interrupted, running.end(TIMEOUT_GRACE_MS).then(() => ending)])
        : ending;
    // Nobody waits for an interrupted command: its end goes on by itself.
    if (last === "interrupted") running.end(INTERRUPT_GRACE_MS).catch(() => undefined);
    return last;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
