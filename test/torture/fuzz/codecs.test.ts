/**
 * Conversations that are nearly right, with both sides of every dialect: records are changed, doubled, left out and put in another order.
 * Neither side throws; what it understood is of the vocabulary; and the host's side keeps to the grammar whatever an agent writes.
 */
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Event } from "../../../src/core/event.js";
import { Grammar } from "../../../src/core/grammar.js";
import { Op } from "../../../src/core/op.js";
import type { Dialect, Side, SideEnv, Step } from "../../../src/dialects/dialect.js";
import { dialectIds, loadDialect } from "../../../src/dialects/index.js";
import { diceOf, isLong, report, SEED } from "../volume.js";
import { type Conversation, conversationsOf, type Move } from "./corpus.js";
import { mutatedRecord, mutatedText, pick } from "./mutate.js";

/** Records for each dialect. */
const RECORDS = isLong ? 400_000 : 4000;

const dialects = await Promise.all(dialectIds.map(loadDialect));

describe.each(dialects)("$id", (dialect) => {
  test("stands conversations that are nearly right", () => {
    const conversations = conversationsOf(dialect);
    const records = conversations.flatMap(({ moves }) => moves.flatMap((move) => ("rec" in move ? [move.rec] : [])));
    const lines = records.map((record) => JSON.stringify(record));
    let read = 0;
    for (let seed = SEED * 1_000_000; read < RECORDS; seed++) {
      const dice = diceOf(seed);
      const told: unknown[] = [];
      try {
        const played = new Played(dialect, pick(conversations, dice));
        for (const move of played.moves(dice)) {
          const changed = dice() % 4 === 0 ? another(move) : move;
          told.push(changed);
          played.make(changed);
          read++;
        }
        played.end();
      } catch (error) {
        const said = error instanceof Error ? error.stack : String(error);
        expect.fail(`seed ${seed}: ${said}\nafter ${told.map((move) => JSON.stringify(move)).join("\n")}`);
      }

      function another(move: Move): Move {
        if (!("rec" in move)) return move;
        return { rec: dialect.framing === "text" ? mutatedText(lines, dice) : mutatedRecord([move.rec, ...records.slice(0, 40)], dice) };
      }
    }
    report("fuzzed records", { [dialect.id]: read });
  });
});

/** One conversation with one fresh side. */
class Played {
  readonly #moves: readonly Move[];
  readonly #side: Side<unknown, never>;
  readonly #understands: (value: unknown) => boolean;
  readonly #grammar: Grammar | undefined;

  constructor(dialect: Dialect, { side, moves }: Conversation) {
    this.#moves = moves;
    const isAgent = side === "agent";
    this.#side = isAgent ? dialect.agentSide(counting()) : dialect.hostSide(counting());
    this.#understands = isAgent ? (value) => v.is(Op, value) : (value) => v.is(Event, value);
    this.#grammar = isAgent ? undefined : new Grammar();
  }

  /** The moves with some of them left out, doubled or moved. */
  moves(dice: () => number): Move[] {
    return this.#moves.flatMap((move, at, all) => {
      switch (dice() % 16) {
        case 0:
          return [];
        case 1:
          return [move, move];
        case 2:
          return [pick(all, dice), move];
        default:
          return at > 0 && dice() % 12 === 0 ? [pick(all, dice)] : [move];
      }
    });
  }

  make(move: Move): void {
    if ("write" in move) {
      if (this.#grammar !== undefined && v.is(Op, move.write)) this.#grammar.op(move.write);
      this.#heard(this.#side.write(move.write as never));
    } else this.#heard(this.#side.read("rec" in move ? { rec: move.rec } : { launch: move.launch }));
  }

  end(): void {
    this.#heard(this.#side.end({ code: 0 }));
  }

  #heard({ in: understood, out }: Step<unknown>): void {
    for (const value of understood) {
      if (!this.#understands(value)) throw new Error(`It is not of the vocabulary: ${JSON.stringify(value)}`);
      const violations = this.#grammar === undefined || !v.is(Event, value) ? [] : this.#grammar.event(value);
      if (violations.length > 0) throw new Error(`It breaks the grammar: ${violations.join("; ")}`);
    }
    for (const each of out) JSON.stringify(each);
  }
}

function counting(): SideEnv {
  let made = 0;
  return { stamp: () => ({ id: `id-${++made}`, at: 0 }) };
}
