/**
 * A host that says anything at any time, to the built command. Whatever it says, the lines keep the document's order (the harness sees to
 * that), every message that is taken has one stream, and the process is there to the end. What it says is drawn from the seed in the name.
 */
import { expect, test } from "vitest";
import type { Command } from "../../src/dialects/aionrs/wire/records.js";
import { ready, type AionrsHost, type WireName } from "./host.js";

const SEEDS = [1, 2];
const STEPS = 70;
const ORDERS = [
  "say hi",
  "think then say so",
  "run `true`",
  "run `sleep 60`",
  "write a.txt with x",
  "count to 3 then wait forever",
  "/help",
];
const MODES = ["default", "auto_edit", "yolo", "force", "sideways"];
const BAD = ["{oops", "[]", '{"type":"foo"}', '{"type":"message"}', '\uFEFF{"type":"stop"}\r', "", '{"type":"tool_approve","call_id":5}'];

test.each(SEEDS.flatMap((seed) => (["aionrs", "wayland", "aionrs@0.2"] as const).map((dialect) => [dialect, seed] as const)))(
  "%s, seed %i",
  async (dialect, seed) => {
    const dice = diceOf(seed);
    const host = await ready({ dialect });
    const asked: string[] = [];
    for (let step = 0; step < STEPS; step++) {
      say(host, dialect, asked, dice);
      if (dice() % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (dice() % 10 === 0) await host.settled();
    }
    const started = (msg_id: string): boolean => host.of("stream_start").some((start) => start.msg_id === msg_id);
    const ended = (msg_id: string): boolean => host.of("stream_end").some((end) => end.msg_id === msg_id);
    for (const msg_id of asked) {
      while (!ended(msg_id)) {
        host.send({ type: "stop" });
        await host.settled();
      }
    }
    host.message("last", "say end");
    await host.stream("last");
    expect(host.text("last")).toBe("end");
    expect(await host.finish()).toBe(0);
    // A slash command is answered at once; the others wait for each other.
    expect(
      host
        .of("stream_end")
        .map(({ msg_id }) => msg_id)
        .toSorted(),
    ).toEqual([...asked, "last"].toSorted());
    expect(host.of("stream_start").map(({ msg_id }) => msg_id)).toEqual([...asked.filter((msg_id) => started(msg_id)), "last"]);
    expect(host.stderr).not.toContain("internal error");
  },
);

/** One more thing. Fewer messages than may wait, so that none is refused. */
function say(host: AionrsHost, dialect: WireName, asked: string[], dice: () => number): void {
  const pick = <T>(all: readonly T[]): T | undefined => all[dice() % all.length];
  const call_id = (dice() % 4 === 0 ? undefined : pick(host.of("tool_request"))?.call_id) ?? "never";
  const any: (() => Command | string)[] = [
    () => message(`m${asked.length + 1}`),
    () => ({ type: "stop" }),
    () => ({ type: "tool_approve", call_id, scope: pick(["once", "always", null]) ?? null }),
    () => ({ type: "tool_approve", call_id }),
    () => ({ type: "tool_deny", call_id, reason: "no" }),
    () => JSON.stringify({ type: "set_mode", mode: pick(MODES) }),
    () => ({ type: "init_history", text: "before" }),
    () => pick(BAD) ?? "",
  ];
  const later: typeof any = [
    () => ({ type: "set_config", thinking: pick(["enabled", "disabled"] as const) ?? null }),
    () => ({ type: "ping" }),
    () => ({ type: "add_mcp_server", name: "none", transport: "stdio", command: "/nonexistent" }),
  ];
  const said = pick(dialect === "aionrs" ? any : [...any, ...later])?.() ?? "";
  if (typeof said === "string") host.raw(`${said}\n`);
  else host.send(said);

  function message(msg_id: string): Command {
    asked.push(msg_id);
    return { type: "message", msg_id, [dialect === "aionrs" ? "input" : "content"]: pick(ORDERS) };
  }
}

function diceOf(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state >> 8;
  };
}
