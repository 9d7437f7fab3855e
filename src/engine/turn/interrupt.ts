/** An interrupt: how it ends the work of a turn. */

/** The loop throws it when the turn was interrupted. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** Rejects at an interrupt, however slow the work is to stop. */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Interrupted());
    const over = (): void => signal.removeEventListener("abort", stop);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    // The abandoned work may still fail: its failure must not be unhandled.
    work.then(
      (result) => {
        over();
        if (signal.aborted) stop();
        else resolve(result);
      },
      (error: unknown) => {
        over();
        reject(error);
      },
    );
  });
}
