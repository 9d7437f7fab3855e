/**
 * The wires by example. A dialect's `vectors` folder has files of lines; each file is one connection, whose lines are read and written
 * in order:
 *   ok/   {"dir": "op" | "event", "wire": …, "means": …}     reads to `means`, and `means` is written as `wire`
 *   odd/  {"dir": …, "wire": …, "means": …}                  is tolerated: it reads to `means`
 *   bad/  {"dir": …, "wire" or "line": …, "says": "…"}       is rejected: an answer (an op) or an error (an event) that says so
 * `wire` and `means` are one thing or a list. `line` is a line that is no record. `only` is "read" or "write" for what goes one way.
 * Ids and times that a side makes up are `id-1`, `id-2`, … and 0. Lines with a "side" are a conversation (support/conversation.ts): for
 * wires where a line means something only after what came before it.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Event } from "../src/core/event.js";
import { Op } from "../src/core/op.js";
import type { Frame } from "../src/core/wire.js";
import type { Dialect, Side, SideEnv, Step } from "../src/dialects/dialect.js";
import { dialectIds, loadDialect } from "../src/dialects/index.js";
import { parseTurns, replay } from "./support/conversation.js";
import { wordsIn, wordsOf } from "./support/vocabulary.js";

const Vector = v.strictObject({
  dir: v.picklist(["op", "event"]),
  wire: v.optional(v.unknown()),
  line: v.optional(v.string()),
  means: v.optional(v.unknown()),
  says: v.optional(v.string()),
  only: v.optional(v.picklist(["read", "write"])),
});
type Vector = v.InferOutput<typeof Vector>;

interface VectorFile {
  name: string;
  text: string;
}

test("every dialect has vectors", () => {
  expect(dialectIds.filter((id) => !existsSync(folderOf(id)))).toEqual([]);
});

const dialects = await Promise.all(dialectIds.filter((id) => existsSync(folderOf(id))).map(loadDialect));

describe.each(dialects)("$id", (dialect) => {
  const conversations = filesOf(dialect, "ok", "odd", "bad").filter(isConversation);
  test.each(conversations.map((file) => [file.name, file] as const))("%s goes as it is told", (_name, { text }) => {
    const told = parseTurns(text);
    const heard = replay(dialect, told);
    for (const [index, turn] of told.entries()) expect(asJson(heard[index])).toEqual(turn);
  });

  test.each(plain(dialect, "ok"))("%s reads to what it means, and is written from it", (_name, vectors) => {
    const sides = open(dialect);
    for (const vector of vectors) {
      const { only, means, wire } = vector;
      expect(only === "write" ? means : asJson(sides.read(vector).in), note("read", vector)).toEqual(
        only === "write" ? means : list(means),
      );
      expect(only === "read" ? wire : sides.write(vector), note("write", vector)).toEqual(only === "read" ? wire : list(wire));
    }
  });

  test.each(plain(dialect, "odd"))("%s is tolerated", (_name, vectors) => {
    const sides = open(dialect);
    for (const vector of vectors) {
      const step = sides.read(vector);
      expect(asJson(step.in), note("read", vector)).toEqual(list(vector.means));
      expect(step.out, note("answer", vector)).toEqual([]);
    }
  });

  test.each(plain(dialect, "bad"))("%s is rejected", (_name, vectors) => {
    const sides = open(dialect);
    for (const vector of vectors) {
      const step = sides.read(vector);
      expect(strings(vector.dir === "op" ? step.out : step.in), note("says", vector)).toContain(vector.says);
      if (vector.dir === "op") expect(step.in, note("read", vector)).toEqual([]);
      else expect(step.in, note("read", vector)).toMatchObject([{ type: "error", fault: { code: "protocol" } }]);
    }
  });

  test("has a vector for every type and every enum value of its wire", () => {
    const all = filesOf(dialect, "ok", "odd").flatMap((file): Pick<Vector, "dir" | "wire">[] => {
      return isConversation(file)
        ? parseTurns(file.text).flatMap(({ dir, wire, answers }) =>
            dir === undefined
              ? []
              : [
                  { dir, wire },
                  { dir: dir === "op" ? "event" : "op", wire: answers },
                ],
          )
        : parse(file);
    });
    for (const dir of ["op", "event"] as const) {
      const schema = dialect.wire[dir];
      const records = all.filter((vector) => vector.dir === dir).flatMap((vector) => list(vector.wire));
      const used = new Set(records.flatMap((record) => [...wordsIn(schema, record)]));
      expect([...wordsOf(schema)].filter((word) => !used.has(word))).toEqual([]);
    }
  });

  test("has no vector that means something unheard of", () => {
    for (const vector of filesOf(dialect, "ok", "odd")
      .filter((file) => !isConversation(file))
      .flatMap(parse)) {
      for (const meaning of list(vector.means)) expect(v.is(vector.dir === "op" ? Op : Event, meaning), note("means", vector)).toBe(true);
    }
  });
});

/** Both ends of one connection: each vector is read by one of them and written by the other. */
function open(dialect: Dialect): { read(vector: Vector): Step<unknown>; write(vector: Vector): unknown[] } {
  const agent = dialect.agentSide(counting());
  const host = dialect.hostSide(counting());
  return {
    read: (vector) =>
      together(list(vector.line ?? vector.wire).map((wire) => (vector.dir === "op" ? agent : host).read(frameOf(vector, wire)))),
    write: (vector) => list(vector.means).flatMap((meaning) => (vector.dir === "op" ? written(host, meaning) : written(agent, meaning))),
  };
}

function written<In, W>(side: Side<In, W>, meaning: unknown): unknown[] {
  // What a vector means is held against the vocabulary by a test of its own.
  return side.write(meaning as W).out.flatMap((out) => ("rec" in out ? [out.rec] : []));
}

function frameOf(vector: Vector, wire: unknown): Frame {
  return vector.line === undefined ? { rec: wire } : { bad: "The line is not JSON", line: vector.line };
}

function together(steps: readonly Step<unknown>[]): Step<unknown> {
  return { in: steps.flatMap((step) => step.in), out: steps.flatMap((step) => step.out) };
}

function counting(): SideEnv {
  let made = 0;
  return { stamp: () => ({ id: `id-${++made}`, at: 0 }) };
}

/** Two versions of one vocabulary are one folder: `aionrs@0.2` has its vectors in `aionrs/vectors@0.2`. */
function folderOf(id: string): string {
  const [name = "", revision] = id.split("@");
  return join(import.meta.dirname, "../src/dialects", name, revision === undefined ? "vectors" : `vectors@${revision}`);
}

function filesOf({ id }: Dialect, ...kinds: string[]): VectorFile[] {
  return kinds
    .map((kind) => join(folderOf(id), kind))
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .toSorted()
    .map((path) => ({ name: relative(folderOf(id), path), text: readFileSync(path, "utf8") }));
}

function plain(dialect: Dialect, kind: string): [string, Vector[]][] {
  return filesOf(dialect, kind)
    .filter((file) => !isConversation(file))
    .map((file) => [file.name, parse(file)]);
}

function isConversation({ text }: VectorFile): boolean {
  return text.startsWith('{"side":');
}

function parse({ name, text }: VectorFile): Vector[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line, index) => {
      const result = v.safeParse(Vector, JSON.parse(line));
      if (!result.success) throw new Error(`${name}:${index + 1}: ${result.issues[0].message}`);
      return result.output;
    });
}

function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}

function note(what: string, vector: Vector): string {
  return `${what}: ${JSON.stringify(vector)}`;
}
