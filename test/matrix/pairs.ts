/** Which host dialect meets which agent dialect. */
import { dialectIds } from "../../src/dialects/index.js";

export type Pair = readonly [as: string, drive: string];

/** A process a turn: a host of them holds no conversation with a relay (test/agentproc/relay.test.ts plays it), and an agent is not started before its first turn. */
export const PER_TURN: readonly string[] = ["agentproc", "agentproc@0.4"];

const hostIds = dialectIds.filter((id) => !PER_TURN.includes(id));

export const everyPair: readonly Pair[] = hostIds.flatMap((as) => dialectIds.map((drive) => [as, drive] as const));

/**
 * The whole matrix grows with the square of the dialects, and a pair over real processes takes seconds. What a pair says is the same in
 * memory, where all of them are played; what processes add (pipes, signals, exit codes, tools that die) belongs to each wire and not to
 * the pair. So here every dialect meets others as host and as agent, in a ring, and plays what has to do with processes.
 */
export const somePairs: readonly Pair[] = hostIds.flatMap((as) =>
  [1, 3].map((step) => [as, dialectIds[(dialectIds.indexOf(as) + step) % dialectIds.length] ?? as] as const),
);
