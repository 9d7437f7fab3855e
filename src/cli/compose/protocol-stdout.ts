/** A stdout that carries a protocol: nothing else is written to it, and a start that fails is reported in the protocol. */
import { Console } from "node:console";
import type { Fault } from "../../core/errors.js";
import { withRemedy } from "../../core/remedies.js";
import { programOf, type Dialect } from "../../dialects/index.js";
import { ownExit } from "../command-line/exit-code.js";
import { sideEnv } from "../../link/stamp.js";
import { stdio } from "../../transports/stdio.js";

/** Sends the console to stderr. An uncaught error of ours is reported there, and the process lives. */
export function keepStdoutClean(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
  process.on("uncaughtException", (error) => console.error("parley: internal error:", error));
}

/**
 * Reports a start that failed: in the dialect's words on stdout for the host, and on stderr for people. Returns the exit code that the
 * dialect, or its program, has for it. `switches` are the words of the command line for the wire itself, where they decide how it is
 * reported.
 */
export async function refuseToStart(dialect: Dialect, fault: Fault, switches?: readonly string[]): Promise<number | undefined> {
  const side = dialect.agentSide(sideEnv);
  if (switches !== undefined) side.read({ launch: { argv: [...switches], env: {} } });
  const { out } = side.write({ type: "reply", to: "session.open", status: "error", fault });
  const transport = stdio(dialect.framing);
  const records = out.flatMap((item) => ("rec" in item ? [item.rec] : []));
  console.error(`parley: ${withRemedy(fault)}`);
  await transport.write(records);
  await transport.flushed();
  transport.close("eof");
  const code = out.find((item) => "exit" in item)?.exit;
  return code === 1 ? ownExit(fault, programOf(dialect.id)?.exits) : code;
}
