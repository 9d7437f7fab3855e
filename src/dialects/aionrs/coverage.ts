/** The coverage of the aionrs wire. `none`: the link answers, folds or refuses the word (link/gaps.ts). */
import type { Coverage } from "../dialect.js";

const OPENING = ["provider", "model", "maxTokens", "maxTurns", "system", "cwd", "mode"];
/** The settings that `set_config` and `add_mcp_server` can say. */
const CHANGES = ["thinking", "thinkingBudget", "effort", "outputCompaction", "mcpServers"];

export const coverage: Coverage = {
  "session.open": { only: OPENING },
  "session.configure": { only: ["mode"] },
  "session.seed": "exact",
  "session.close": "none",
  "session.list": "none",
  "session.watch": "none",
  "session.rewind": "none",
  "session.delete": "none",
  "session.mark": "none",
  "provider.set": "none",
  "turn.prompt": { only: ["text", "file"] },
  "turn.steer": "none",
  "turn.interrupt": "exact",
  "approval.answer": { only: ["call", "category"] },
  "host.answer": "none",
  "command.suggest": "none",
  ping: "none",
  shutdown: "none",
  other: "none",
  "session.ready": "exact",
  "session.updated": "none",
  "session.ended": "none",
  "session.changed": "none",
  closed: "none",
  "turn.started": "exact",
  "turn.ended": "exact",
  "text.delta": "exact",
  "text.done": { only: ["whole"] },
  "thinking.delta": "exact",
  "thinking.done": { only: ["whole"] },
  "user.message": "none",
  "tool.requested": { only: ["asked"] },
  "tool.delta": "none",
  "tool.started": "exact",
  "tool.progress": "none",
  "tool.ended": "exact",
  "approval.requested": "exact",
  "approval.settled": "none",
  "host.request": "none",
  "host.settled": "none",
  usage: { only: ["turn"] },
  compaction: "none",
  notice: "exact",
  "catalog.updated": "none",
  reply: { only: ["error"] },
  error: "exact",
};

/** `mcpServers` only before the first prompt. */
export const laterCoverage: Coverage = {
  ...coverage,
  "session.open": { only: [...OPENING, ...CHANGES] },
  "session.configure": { only: ["mode", "model", ...CHANGES] },
  "turn.prompt": { only: ["text", "file", "command"] },
  ping: "exact",
  "session.updated": "exact",
  "catalog.updated": { only: ["mcpServers"] },
  reply: { only: ["error", "ping", "command"] },
};
