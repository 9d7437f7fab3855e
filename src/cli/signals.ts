/** Signals end a run in order: the turn is interrupted and told so, children are ended, output is drained; a second signal leaves. */
import type { Agent } from "../core/agent.js";

const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export interface SignalWatch {
  /** The exit code that a signal asked for. */
  code(): number | undefined;
}

export function endOnSignal(agent: Agent): SignalWatch {
  let code: number | undefined;
  for (const [signal, exitCode] of Object.entries(CODES)) {
    process.on(signal, () => {
      if (code !== undefined) process.exit(exitCode);
      code = exitCode;
      void agent.send({ type: "shutdown", when: "now" });
    });
  }
  return { code: () => code };
}
