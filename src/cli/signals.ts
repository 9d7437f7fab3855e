/** Signals end a run in order: the turn is interrupted and told so, children are ended, output is drained; a second signal leaves. */
import type { Interface } from "node:readline/promises";
import type { Agent } from "../core/agent.js";

const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export interface SignalWatch {
  /** The exit code that a signal asked for. */
  code(): number | undefined;
  /** An open terminal makes Ctrl-C a key instead of a signal: it counts as one, and `interrupt` says what the first one does. */
  listen(terminal: Interface, interrupt: () => void): void;
}

export function endOnSignal(agent: Pick<Agent, "send">): SignalWatch {
  let code: number | undefined;
  const end = (exitCode: number, inOrder: () => void): void => {
    if (code !== undefined) process.exit(exitCode);
    code = exitCode;
    inOrder();
  };
  for (const [signal, exitCode] of Object.entries(CODES)) {
    process.on(signal, () => end(exitCode, () => void agent.send({ type: "shutdown", when: "now" })));
  }
  return {
    code: () => code,
    listen: (terminal, interrupt) => void terminal.on("SIGINT", () => end(CODES.SIGINT, interrupt)),
  };
}
