/** The coverage of each AgentProc wire. `none`: the link answers, folds or refuses the word (link/gaps.ts). */
import type { Coverage } from "../dialect.js";
import { speaksLines, type Options } from "./wire/options.js";

export function coverageOf({ wire, permission }: Options): Coverage {
  return { ...BASE, ...(permission && ASKING), ...(!speaksLines(wire) && RECORDS) };
}

const BASE: Coverage = {
  "session.open": { only: ["cwd"] },
  "session.configure": "none",
  "session.seed": "none",
  "session.close": "none",
  "session.list": "none",
  "session.watch": "none",
  "session.rewind": "none",
  "session.delete": "none",
  "session.mark": "none",
  "provider.set": "none",
  "turn.prompt": { only: ["text", "image", "file"] },
  "turn.steer": "none",
  "turn.interrupt": "exact",
  "approval.answer": "none",
  "host.answer": "none",
  "command.suggest": "none",
  ping: "none",
  shutdown: "none",
  other: "none",
  "session.ready": "none",
  "session.updated": { only: ["sessionId"] },
  "session.ended": "none",
  "session.changed": "none",
  closed: "none",
  "turn.started": "none",
  "turn.ended": "exact",
  "text.delta": "exact",
  "text.done": { only: ["whole"] },
  "thinking.delta": "none",
  "thinking.done": "none",
  "user.message": "none",
  "tool.requested": "none",
  "tool.delta": "none",
  "tool.started": "none",
  "tool.progress": "none",
  "tool.ended": "none",
  "approval.requested": "none",
  "approval.settled": "none",
  "host.request": "none",
  "host.settled": "none",
  usage: "none",
  compaction: "none",
  notice: "none",
  "catalog.updated": "none",
  reply: { only: ["error"] },
  error: { only: ["turn"] },
};

const ASKING = {
  "approval.answer": { only: ["call", "args"] },
  "approval.requested": "exact",
  "tool.requested": { only: ["asked"] },
} as const satisfies Partial<Coverage>;

const RECORDS = {
  "thinking.delta": "exact",
  "thinking.done": { only: ["whole"] },
  usage: { only: ["turn"] },
} as const satisfies Partial<Coverage>;
