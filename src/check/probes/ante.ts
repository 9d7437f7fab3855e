/** The requirements of Ante's protocol, as a host sees them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Probes } from "../grade/probes.js";
import type { Scene } from "../grade/scene.js";
import { EventHost, fieldsOf, nameOf } from "./event-host.js";
import { at } from "./records.js";

const U = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const ID = `op_${U}`;
const line = (op: unknown, id: unknown = ID): string => JSON.stringify({ op, id });
const start = (fields: Record<string, unknown>): string => line({ StartSession: { model: "m", provider: "anthropic", ...fields } });
const answer = (responses: unknown): string => line({ ApprovalResponse: { turn_id: `step_${U}`, responses } });
const WRITE = { wants: [{ kind: "write" as const, path: "a.txt", content: "written\n" }] };
const DONE = { text: ["done"] };

/** Lines that are no operations, and what their Errors name. */
function refused(lines: readonly string[], words?: RegExp): (scene: Scene) => Promise<void> {
  return async (scene) => (await EventHost.launch(scene)).refuses(lines, words);
}

export const probes: Probes = {
  async meet(scene) {
    await EventHost.open(scene);
  },
  charge: (rec) => (rec === undefined ? "N68" : /^(Turn|Tool|Agent|Message|Usage)/.test(nameIn(rec)) ? "N28" : "N4"),
  plays: {
    N1: refused(["this is no JSON", '{"op":"Inter']),
    async N3(scene) {
      const host = await EventHost.launch(scene);
      await host.shutdown();
      const { code } = await host.conversation.left();
      const [first, second] = host.conversation.records;
      host.conversation.expect(first !== undefined && nameOf(first) === "Goodbye", "Goodbye alone", first);
      host.conversation.expect(second === undefined, "nothing behind Goodbye", second);
      host.conversation.expect(code === 0, "exit code 0 after Shutdown", first);
    },
    async N4(scene) {
      const host = await EventHost.launch(scene);
      const id = host.start({ cwd: scene.folder });
      await host.next("ExtensionRefreshed");
      const [first, second] = host.conversation.records;
      host.conversation.expect(nameOf(first ?? {}) === "SessionStart", "SessionStart first", first);
      host.conversation.expect(nameOf(second ?? {}) === "ExtensionRefreshed", "ExtensionRefreshed second", second);
      for (const rec of [first, second]) host.conversation.expect(rec?.["parent"] === id, "the op as the parent", rec);
    },
    N9: refused([start({ allowed_tools: "Read" })]),
    async N10(scene) {
      const host = await EventHost.launch(scene);
      const id = host.op({ StartSession: { model: "m", provider: "anthropic", streaming: true } }, { later: 1 });
      await startsOr(host, id, "an unknown key beside an operation to be ignored");
    },
    async N8(scene) {
      const host = await EventHost.launch(scene);
      await startsOr(host, host.start({ unknown: { a: 1 } }), "an unknown key in an operation to be ignored");
    },
    N11: refused([line("Interrupt", "op_001")], /ulid/i),
    N12: refused([line("Interrupt", U)]),
    N15: refused([line("Interrupt", `op_${U.slice(0, -1)}U`)]),
    N16: refused([line("Interrupt", 7)]),
    async N17(scene) {
      await (await EventHost.launch(scene)).refuses(['{"op":"Interrupt"}'], /\bid\b/);
      await (await EventHost.launch(scene)).refuses([`{"id":"${ID}"}`], /\bop\b/);
    },
    N20: refused([line({ ParleyCheck: {} })], /ParleyCheck/),
    N21: refused([line("UserInput")]),
    N22: refused([line({ UserInput: "a", Steer: "b" })]),
    N23: refused([line({})]),
    N24: refused([line({ UserInput: 42 }), line({ UserInput: null })]),
    N25: refused([line({ UserInput: "hi" }), line({ UpdateSession: { model: { name: "x" } } })]),
    async N26(scene) {
      const host = await EventHost.open(scene);
      host.op("Interrupt");
      await host.shutdown();
      const told = host.conversation.all((rec) => ["TurnStart", "TurnEnd", "Error"].includes(nameOf(rec)))[0];
      host.conversation.expect(told === undefined, "an Interrupt to end nothing", told);
    },
    async N28(scene) {
      const { host, input } = await asking(scene, [{ text: ["Hel", "lo"] }], { policy: null });
      await host.next("TurnEnd", input);
      const turn = host.conversation.all((rec) => /^(Turn|Agent|Message|Usage)/.test(nameOf(rec)));
      const stray = turn.find((rec) => rec["parent"] !== input);
      host.conversation.expect(stray === undefined, "the input as the parent of each record", stray);
      host.conversation.expect(nameOf(turn[0] ?? {}) === "TurnStart", "TurnStart first", turn[0]);
      const said = host.of("AgentMessage")[0];
      host.conversation.expect(fieldsOf(said) === "Hello", "the model's words in AgentMessage", said ?? turn.at(-1));
    },
    async N29(scene) {
      const { host, input } = await asking(scene, [{ text: ["Hel", "lo"] }], { streaming: false });
      await host.next("TurnEnd", input);
      const [delta] = host.of("MessageDelta");
      host.conversation.expect(delta === undefined, "no deltas without streaming", delta);
    },
    async N30(scene) {
      const { host, input } = await asking(scene, [{ text: ["Hel", "lo"] }]);
      await host.next("TurnEnd", input);
      const text = host
        .of("MessageDelta")
        .map((rec) => String(fieldsOf(rec)))
        .join("");
      host.conversation.expect(text === "Hello", "deltas that are the whole text", host.of("AgentMessage")[0]);
    },
    async N31(scene) {
      const { host, input } = await asking(scene, [WRITE, DONE]);
      const pause = await host.next("TurnPause", input);
      await scene.pause();
      const early = host.of("ToolEnd")[0];
      host.conversation.expect(early === undefined, "no ToolEnd before the answer", early);
      host.conversation.expect(!existsSync(join(scene.folder, "a.txt")), "no file before the answer", pause);
      await host.answer(input, "Accept");
      await host.next("TurnEnd", input);
    },
    async N32(scene) {
      const { host, input } = await asking(scene, [WRITE, DONE]);
      await host.answer(input, "Accept");
      const end = await host.next("TurnEnd", input);
      host.conversation.expect(existsSync(join(scene.folder, "a.txt")), "the file of the accepted call", host.of("ToolEnd")[0] ?? end);
    },
    async N33(scene) {
      const { host, input } = await asking(scene, [WRITE, DONE]);
      await host.answer(input, "Skip");
      const end = await host.next("TurnEnd", input);
      host.conversation.expect(!existsSync(join(scene.folder, "a.txt")), "no file of the skipped call", end);
      host.conversation.expect(fieldsOf(end, "status") === "Completed", "the turn to go on to its end", end);
    },
    async N34(scene) {
      const { host, input } = await asking(scene, [WRITE, DONE]);
      await host.answer(input, "Abort");
      const end = await host.next("TurnEnd", input);
      host.conversation.expect(at(fieldsOf(end, "status"), "Interrupted") !== undefined, "a turn that is interrupted", end);
    },
    N39: refused([answer([["a"]]), answer([["a", "Skip", "c"]])]),
    N40: refused([answer([["a", "Deny"]])], /Accept/),
    async N43(scene) {
      const { host, input } = await asking(scene, [WRITE, DONE], { policy: "yolo" });
      const over = await host.conversation.next(
        "TurnEnd",
        (rec) => ["TurnEnd", "TurnPause"].includes(nameOf(rec)) && rec["parent"] === input,
      );
      host.conversation.expect(nameOf(over) === "TurnEnd", "no pause in yolo", over);
    },
    async N44(scene) {
      scene.model.script("check-next", [DONE]);
      const { host, input } = await asking(scene, [{ text: ["one "], isEndless: true }]);
      await host.next("MessageDelta", input);
      host.op("Interrupt");
      await host.next("TurnEnd", input);
      const next = host.op({ UserInput: "check-next" });
      await host.next("TurnEnd", next);
      const again = host.of("TurnEnd").filter(({ parent }) => parent === input)[1];
      host.conversation.expect(again === undefined, "one end of the interrupted turn", again);
    },
    N51: refused([line({ UpdateSession: {} })]),
    N53: refused([line({ ResumeSession: { session_id: "ses_target" } })]),
    async N62(scene) {
      const host = await EventHost.open(scene);
      host.conversation.leave();
      const { code } = await host.conversation.left();
      const last = host.conversation.records.slice(-2);
      host.conversation.expect(last.map(nameOf).join(" ") === "SessionEnd Goodbye", "SessionEnd and Goodbye at the end of input", last[0]);
      host.conversation.expect(code === 0, "exit code 0 at the end of input", last[1]);
    },
    async N81(scene) {
      const host = await EventHost.open(scene);
      const again = host.start({ cwd: scene.folder });
      const second = await host.next("SessionStart", again);
      const [first] = host.of("SessionStart");
      host.conversation.expect(host.of("SessionEnd").length === 1, "SessionEnd of the first session", second);
      const ids = [first, second].map((rec) => fieldsOf(rec, "session_id"));
      host.conversation.expect(ids[0] !== ids[1], "a new session id", second);
    },
    async N84(scene) {
      const { host, input } = await asking(scene, [DONE]);
      await host.next("TurnEnd", input);
      const ids = host.conversation.records.map(({ id }) => String(id));
      const wrong = host.conversation.records.find(({ id }, n) => !String(id).startsWith("evt_") || ids.indexOf(String(id)) !== n);
      host.conversation.expect(wrong === undefined, "an id of its own with the prefix evt", wrong);
    },
    async N85(scene) {
      const { host, input } = await asking(scene, [DONE]);
      await host.next("TurnEnd", input);
      const times = host.conversation.records.map(({ timestamp }) => String(timestamp));
      const wrong = host.conversation.records.find((_, n) => times[n]?.endsWith("Z") !== true || (times[n] ?? "") < (times[n - 1] ?? ""));
      host.conversation.expect(wrong === undefined, "timestamps that end in Z and never go back", wrong);
    },
  },
};

function nameIn(rec: unknown): string {
  const event = at(rec, "event");
  return typeof event === "object" && event !== null ? (Object.keys(event)[0] ?? "") : "";
}

/** A session with one input, which the model answers in these steps. */
async function asking(
  scene: Scene,
  steps: Parameters<Scene["model"]["script"]>[1],
  fields: Record<string, unknown> = {},
): Promise<{ host: EventHost; input: string }> {
  scene.model.script("check-input", steps);
  const host = await EventHost.open(scene, fields);
  return { host, input: host.op({ UserInput: "check-input" }) };
}

async function startsOr(host: EventHost, id: string, what: string): Promise<void> {
  const told = await host.conversation.next(
    "SessionStart",
    (rec) => ["SessionStart", "Error"].includes(nameOf(rec)) && rec["parent"] === id,
  );
  host.conversation.expect(nameOf(told) === "SessionStart", what, told);
}
