/** What a command whose stdout carries a protocol owes to its host: nothing else on stdout, and words for a start that failed. */
import { Console } from "node:console";
import type { Fault } from "../../core/errors.js";
import type { Dialect } from "../../dialects/index.js";
import { sideEnv } from "../../link/stamp.js";
import { stdio } from "../../transports/stdio.js";

/** stdout carries the protocol and nothing else; an error of ours that nobody caught is told on stderr, and the process lives. */
export function keepStdoutClean(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
  process.on("uncaughtException", (error) => console.error("parley: internal error:", error));
}

/**
 * What cannot start says so in the dialect's own words, on stdout, where its host listens; and on stderr for people. The exit code, where
 * the dialect has one of its own for it. `switches`: what the command line says to the wire itself, where that decides on the words.
 */
export async function refuseToStart(dialect: Dialect, fault: Fault, switches?: readonly string[]): Promise<number | undefined> {
  const side = dialect.agentSide(sideEnv);
  if (switches !== undefined) side.read({ launch: { argv: [...switches], env: {} } });
  const { out } = side.write({ type: "reply", to: "session.open", status: "error", fault });
  const transport = stdio(dialect.framing);
  const records = out.flatMap((item) => ("rec" in item ? [item.rec] : []));
  console.error(`parley: ${fault.message}`);
  await transport.write(records);
  await transport.flushed();
  transport.close("eof");
  const code = out.find((item) => "exit" in item)?.exit;
  return code === 1 ? undefined : code;
}
