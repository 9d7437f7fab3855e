/** Whatever a client sends, in whatever order: the order of the wire holds, nothing hangs, and Shutdown ends in Goodbye. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { mintId } from "../../src/core/ids.js";
import { ante } from "../../src/dialects/ante/index.js";
import { createEngine } from "../../src/engine/engine.js";
import { jsonlStore } from "../../src/engine/store/jsonl/store.js";
import { serve } from "../../src/link/serve.js";
import { memoryPair } from "../../src/transports/memory.js";
import { AnteClient, type AnteLine } from "./client.js";

/** A daemon in this process: the real engine, the rehearsal model, a store of its own. */
function inProcess(): AnteLine {
  const home = mkdtempSync(join(tmpdir(), "parley-ante-"));
  const [near, far] = memoryPair("json");
  const engine = createEngine({
    defaults: { cwd: home, approveTools: [...(ante.unasked ?? [])] },
    env: { PATH: process.env["PATH"] ?? "" },
    openStore: (redact) => Promise.resolve(jsonlStore(home, { keep: 20, redact })),
  });
  const served = serve(engine, ante, far, { launch: { argv: [], env: {} } });
  let heard = (): void => undefined;
  // As a pipe does: closed when what was written has been heard, and not before.
  const closed = Promise.all([served, new Promise<void>((resolve) => (heard = resolve))]).then(([{ code }]) => {
    rmSync(home, { recursive: true, force: true });
    return code ?? null;
  });
  return {
    send: (text) => void near.write([JSON.parse(text)]),
    onRecord(hear) {
      void (async () => {
        for await (const frame of near.frames) if ("rec" in frame) hear(JSON.stringify(frame.rec));
        heard();
      })();
    },
    end: () => near.close("eof"),
    kill: () => near.close("term"),
    closed,
  };
}

type Act =
  | "start"
  | "yolo"
  | "bad start"
  | "resume"
  | "resume nobody"
  | "update"
  | "steer"
  | "interrupt"
  | "answer"
  | "abort"
  | "settle"
  | "command";
const acts: readonly Act[] = [
  "start",
  "yolo",
  "bad start",
  "resume",
  "resume nobody",
  "update",
  "steer",
  "interrupt",
  "answer",
  "abort",
  "settle",
  "command",
];
const prompts = [
  "say hi",
  "think about x then say y",
  "run `echo a`",
  "write 'x' to a.txt then run `true`",
  "wait forever",
  "ask a sub-agent to run `true`",
  "stream 50 pieces",
  "fail with a 401",
];
const step = fc.oneof(
  fc.constantFrom(...acts),
  fc.constantFrom(...prompts).map((say) => ({ say })),
);

it("random operations", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.boolean(), async (steps, isEnd) => {
      const client = new AnteClient(inProcess());
      for (const next of steps) await play(client, next);
      const waits = steps.some((next) => typeof next !== "string" && next.say === "wait forever");
      const left = isEnd && !waits ? client.finish() : client.shutdown();
      expect(await left).toBe(0);
      expect(client.names().at(-1)).toBe("Goodbye");
      expect(client.of("TurnStart").filter(isLive(client))).toHaveLength(client.of("TurnEnd").filter(isLive(client)).length);
    }),
    { numRuns: 40, endOnFailure: true },
  );
}, 120_000);

function isLive(client: AnteClient): (event: { id: string }) => boolean {
  const seen = client.msgs.map(({ id }) => id);
  return ({ id }) => seen.indexOf(id) === seen.lastIndexOf(id);
}

async function play(client: AnteClient, act: Act | { say: string }): Promise<void> {
  const pause = client.of("TurnPause").at(-1);
  const session = client.of("SessionStart").at(0)?.fields.session_id;
  const responses = (decision: string): [string, string][] => (pause?.fields.reason.Approval.tools ?? []).map(({ id }) => [id, decision]);
  if (typeof act !== "string") return void client.input(act.say);
  switch (act) {
    case "start":
    case "yolo":
      return void client.send({
        StartSession: { model: "rehearsal", provider: "rehearsal", streaming: act === "start", policy: act === "yolo" ? "yolo" : null },
      });
    case "bad start":
      return void client.send({ StartSession: { model: "x", provider: "nobody", streaming: true } });
    case "resume":
      return session === undefined ? undefined : void client.resume(session);
    case "resume nobody":
      return void client.resume(`ses_${mintId()}`);
    case "update":
      return void client.send({ UpdateSession: { model: { name: "rehearsal", temperature: 0.5 } } });
    case "steer":
      return void client.send({ Steer: "say left" });
    case "interrupt":
      return void client.send("Interrupt");
    case "answer":
      return pause === undefined ? undefined : void client.answer(pause.fields.turn_id, ...responses("Accept"));
    case "abort":
      return pause === undefined ? undefined : void client.answer(pause.fields.turn_id, ...responses("Abort"));
    case "command":
      return void client.send({ SlashCommand: { name: "nosuch", args: "" } });
    case "settle":
      return client.settled();
    default:
      act satisfies never;
  }
}
