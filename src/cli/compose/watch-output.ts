/** What becomes of output that nobody takes. */

/** One that cannot be written is told once, and by the exit code; a reader that has left is no reason to complain. */
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
