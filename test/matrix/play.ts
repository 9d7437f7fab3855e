/** Plays all scenarios for pairs of a host dialect and an agent dialect. */
import { afterAll, describe, expect, it, onTestFailed } from "vitest";
import { dialectIds } from "../../src/dialects/index.js";
import { agents, isPlayed } from "./agents.js";
import type { Host } from "./host.js";
import { hosts } from "./hosts.js";
import type { OpenRoom } from "./in-processes.js";
import { PER_TURN, type Pair } from "./pairs.js";
import { conversation, endings, grants } from "./scenarios.js";

type OpensRoom = (as: string, drive: string) => OpenRoom;

/** With grants: whether those are played, too. They are kept by one of the two sides, whatever carries the words. */
export function playMatrix(pairs: readonly Pair[], openRoom: OpensRoom, { withGrants }: { withGrants: boolean }): void {
  it("has a host and an agent of every dialect", () => {
    expect([...Object.keys(hosts), ...PER_TURN].toSorted()).toEqual(dialectIds.toSorted());
    expect(Object.keys(agents).toSorted()).toEqual(dialectIds.toSorted());
  });
  for (const [as, drive] of pairs) playPair(as, drive, openRoom, withGrants);
}

function playPair(as: string, drive: string, openRoom: OpensRoom, withGrants: boolean): void {
  const kinds = withGrants ? (hosts[as]?.("").grants ?? []) : [];
  const own = [
    ...Object.entries(endings),
    ...kinds.map((kind) => [`a grant for a ${kind} covers it and no more`, grants[kind]] as const),
  ].filter(([name]) => isPlayed(drive, name));

  describe(`${as} host, ${drive} agent`, () => {
    // One relay for the whole conversation; after a failure the next scenario gets a new one.
    let talk: { room: OpenRoom; host: Host } | undefined;
    afterAll(() => talk?.room.leave());

    it.each(Object.entries(conversation).filter(([name]) => isPlayed(drive, name)))("%s", async (_name, play) => {
      const { room, host } = talk ?? (await begin());
      talk = undefined;
      await dropOnFailure(room, () => play(host, room));
      talk = { room, host };
    });

    it.each(own)("%s", async (_name, play) => {
      const { room, host } = await begin();
      await dropOnFailure(room, () => play(host, room));
      await room.leave();
    });

    async function begin(): Promise<{ room: OpenRoom; host: Host }> {
      const room = openRoom(as, drive);
      return { room, host: await dropOnFailure(room, () => room.start()) };
    }
  });
}

async function dropOnFailure<T>(room: OpenRoom, work: () => Promise<T>): Promise<T> {
  onTestFailed(() => {
    console.error(`The host heard last:\n${room.heard().slice(-20).join("\n")}`);
    room.drop();
  });
  return work();
}
