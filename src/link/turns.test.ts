import { expect, test } from "vitest";
import { Turns } from "./turns.js";

test("a session whose open was refused is forgotten: an op without a session means the one that is left", () => {
  const turns = new Turns();
  turns.open({ type: "session.open", id: "o1", session: "s", open: "new", config: {} });
  turns.event({ type: "session.ready", session: "s", parent: "o1" });
  turns.open({ type: "session.open", id: "o2", session: "t", open: "new", config: {} });
  turns.event({ type: "reply", to: "session.open", parent: "o2", status: "error", fault: { code: "config", message: "no" } });
  turns.sent({ type: "turn.prompt", id: "p", parts: [] });
  expect(turns.runs({ type: "turn.interrupt", session: "s" })).toBe(true);
});
