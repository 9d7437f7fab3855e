/**
 * Conversations that are nearly right, with every dialect from both ends: records are changed, doubled, left out and put in another order.
 * Nothing throws or hangs; what the agent's end understood is of the vocabulary; and what a host hears of a driven agent keeps to the
 * grammar, whatever that agent writes.
 */
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Event } from "../../../src/core/event.js";
import { Grammar } from "../../../src/core/grammar.js";
import { Op } from "../../../src/core/op.js";
import type { Transport } from "../../../src/core/wire.js";
import type { Dialect } from "../../../src/dialects/dialect.js";
import { dialectIds, loadDialect } from "../../../src/dialects/index.js";
import { connect } from "../../../src/link/connect.js";
import { memoryPair } from "../../../src/transports/memory.js";
import { diceOf, isLong, report, SEED } from "../volume.js";
import { conversationsOf, type Move } from "./corpus.js";
import { mutatedRecord, mutatedText, pick } from "./mutate.js";

/** Records for each dialect and end. */
const TO_AGENTS = isLong ? 600_000 : 4000;
const FROM_AGENTS = isLong ? 100_000 : 1500;

const dialects = await Promise.all(dialectIds.map(loadDialect));

describe.each(dialects)("$id", (dialect) => {
  const all = conversationsOf(dialect);
  const records = all.flatMap(({ moves }) => moves.flatMap((move) => ("rec" in move ? [move.rec] : [])));
  const lines = records.map((record) => JSON.stringify(record));

  test("the agent's end stands hosts that are nearly right", () => {
    const moves = all.filter(({ side }) => side === "agent").map((each) => each.moves);
    let read = 0;
    for (let seed = SEED * 1_000_000; read < TO_AGENTS; seed++) {
      const dice = diceOf(seed);
      const told: Move[] = [];
      try {
        read += playToAgent(shuffled(pick(moves, dice), dice), told);
      } catch (error) {
        failed(seed, error, told);
      }
    }
    expect(read).toBeGreaterThanOrEqual(TO_AGENTS);
    report("records of hosts", { [dialect.id]: read });
  });

  test("the host's end stands agents that are nearly right", async () => {
    const moves = all.filter(({ side }) => side === "host").map((each) => each.moves);
    let read = 0;
    for (let seed = SEED * 1_000_000; read < FROM_AGENTS; seed++) {
      const dice = diceOf(seed);
      const told: Move[] = [];
      try {
        // A host keeps its order: the link guards it.
        read += await playFromAgent(shuffled(pick(moves, dice), dice, true), told);
      } catch (error) {
        failed(seed, error, told);
      }
    }
    expect(read).toBeGreaterThanOrEqual(FROM_AGENTS);
    report("records of agents", { [dialect.id]: read });
  });

  /** The moves with some of them changed, left out, doubled or moved. */
  function shuffled(moves: readonly Move[], dice: () => number, keepsWrites = false): Move[] {
    const turns = new Set<string>();
    return moves.flatMap((move): Move[] => {
      // Files of plain vectors are many conversations in one, which name their turns alike.
      if ("write" in move && move.write.type === "turn.prompt" && move.write.turn !== undefined) {
        if (turns.has(move.write.turn)) return [];
        turns.add(move.write.turn);
      }
      if (!("rec" in move)) return keepsWrites || dice() % 16 > 0 ? [move] : [];
      const changed = dice() % 4 === 0 ? { rec: another(move.rec, dice) } : move;
      switch (dice() % 16) {
        case 0:
          return [];
        case 1:
          return [changed, changed];
        case 2:
          return [{ rec: pick(records, dice) }, changed];
        default:
          return [changed];
      }
    });
  }

  function another(record: unknown, dice: () => number): unknown {
    return dialect.framing === "text" ? mutatedText(lines, dice) : mutatedRecord([record, ...records.slice(0, 40)], dice);
  }

  function playToAgent(moves: readonly Move[], told: Move[]): number {
    let made = 0;
    const side = dialect.agentSide({ stamp: () => ({ id: `id-${++made}`, at: 0 }) });
    for (const move of moves) {
      told.push(move);
      const { in: understood, out } = "write" in move ? writeTo(side, move.write) : side.read("rec" in move ? { rec: move.rec } : move);
      for (const op of understood) if (!v.is(Op, op)) throw new Error(`It is no op: ${JSON.stringify(op)}`);
      for (const each of out) JSON.stringify(each);
    }
    side.end({ code: 0 });
    return moves.length;
  }

  async function playFromAgent(moves: readonly Move[], told: Move[]): Promise<number> {
    let far: Transport | undefined;
    const agent = connect(dialect, () => {
      const [near, other] = memoryPair(dialect.framing);
      far = other;
      void drain(other.frames);
      return near;
    });
    const grammar = new Grammar();
    const violations: string[] = [];
    const turns = new Set<string>();
    const heard = (async () => {
      for await (const event of agent.events) {
        if (event.turn !== undefined) turns.add(event.turn);
        if (!v.is(Event, event)) violations.push(`It is no event: ${JSON.stringify(event)}`);
        // A replay is told as the agent keeps it.
        if (event.replay !== true) violations.push(...grammar.event(event));
      }
    })();
    for (const move of moves) {
      told.push(move);
      // What was written before is heard.
      await turnOfTheLoop();
      if ("rec" in move) void far?.write([move.rec]);
      // A host names each turn once; by chance the agent has taken this name.
      else if ("write" in move && v.is(Op, move.write) && !(move.write.type === "turn.prompt" && turns.has(move.write.turn ?? ""))) {
        grammar.op(move.write);
        void agent.send(move.write);
      }
    }
    await turnOfTheLoop();
    far?.close("eof");
    await agent.close();
    await heard;
    violations.push(...grammar.end());
    if (violations.length > 0) throw new Error(violations.join("\n"));
    return moves.length;
  }
});

function writeTo(side: ReturnType<Dialect["agentSide"]>, event: Op | Event): ReturnType<typeof side.write> {
  return v.is(Event, event) ? side.write(event) : { in: [], out: [] };
}

async function drain(frames: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of frames);
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function failed(seed: number, error: unknown, told: readonly Move[]): never {
  const said = error instanceof Error ? error.stack : String(error);
  expect.fail(`seed ${seed}: ${said}\nafter\n${told.map((move) => JSON.stringify(move)).join("\n")}`);
}
