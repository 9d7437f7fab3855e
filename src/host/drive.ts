/** Drives an agent that is a command: starts it when a session needs it, and speaks its dialect. */
import type { Agent } from "../core/agent.js";
import type { Dialect } from "../dialects/dialect.js";
import { connect, type ConnectOptions, type Dial } from "../link/connect.js";
import { spawnTransport, type ProcessOptions } from "../transports/process.js";
import { commandFor, withFlags } from "./launch.js";

/** The environment and the limits of a driven command. */
export interface DriveOptions extends ConnectOptions, Omit<ProcessOptions, "framing"> {
  /** The environment of the command; the default is ours. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** `command` gets the flags of the dialect, in the folder of the session. No shell is involved. */
export function drive(dialect: Dialect, command: readonly string[], { env = process.env, ...options }: DriveOptions = {}): Agent {
  const dial: Dial = (launch) =>
    spawnTransport(
      { ...launch, argv: withFlags(commandFor(dialect, command), launch.argv), env: { ...env, ...launch.env } },
      { ...options, framing: dialect.framing },
    );
  return connect(dialect, dial, options);
}
