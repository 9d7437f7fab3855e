/** Handles output that cannot be written. */

/** A failed write is reported once and by the exit code; a reader that has left is no failure. */
export function watchOutput(): void {
  let isLost = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isLost || error.code === "EPIPE") return;
    isLost = true;
    process.stderr.write(`parley: The output cannot be written: ${error.message}\n`);
    process.once("exit", () => {
      process.exitCode ||= 1;
    });
  });
  process.stderr.on("error", () => {});
}
