/**
 * Signals end a run in order: the turn is interrupted, children are ended, output is drained. A second signal ends the process at once. A
 * host that does not read is not waited for: it may kill us five seconds after its signal.
 */
import type { Interface } from "node:readline/promises";
import type { Agent } from "../../core/agent.js";

const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export interface SignalWatch {
  /** The exit code that a signal asked for. */
  code(): number | undefined;
  /** An open terminal reads Ctrl-C as a key: the key counts as a signal, and `interrupt` handles the first one. */
  listen(terminal: Interface, interrupt: () => void): void;
}

/** Output that has not moved in two such intervals has no reader. */
const STUCK_MS = 1500;

function leaveWhenStuck(exitCode: number): void {
  const { stdout } = process;
  let before: number | undefined;
  const look = (): void => {
    const unread = stdout.writableLength;
    const read = stdout.bytesWritten - unread;
    if (unread > 0 && before === read) process.exit(exitCode);
    before = unread > 0 ? read : undefined;
  };
  setInterval(look, STUCK_MS).unref();
}

export function endOnSignal(agent: Pick<Agent, "send">): SignalWatch {
  let code: number | undefined;
  const end = (exitCode: number, inOrder: () => void): void => {
    if (code !== undefined) process.exit(exitCode);
    code = exitCode;
    inOrder();
    leaveWhenStuck(exitCode);
  };
  for (const [signal, exitCode] of Object.entries(CODES)) {
    process.on(signal, () => end(exitCode, () => void agent.send({ type: "shutdown", when: "now" })));
  }
  return {
    code: () => code,
    listen(terminal, interrupt) {
      terminal.on("SIGINT", () => end(CODES.SIGINT, interrupt));
      // After Ctrl-Z and fg readline leaves its input paused.
      terminal.on("SIGCONT", () => terminal.resume());
    },
  };
}
