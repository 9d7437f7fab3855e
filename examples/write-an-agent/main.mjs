// An agent of your own behind any dialect: take ops, yield events, and let `serve` do the wire.
import { serve, stdio } from "agent-parley";
import { loadDialect } from "agent-parley/dialects";

const inbox = [];
let wake = () => {};

async function* events() {
  for (;;) {
    const op = inbox.shift();
    if (op === undefined) await new Promise((resolve) => (wake = resolve));
    else if (op.type === "session.open") yield { type: "session.ready", session: op.session, parent: op.id };
    else if (op.type === "turn.prompt") yield* shout(op);
    else if (op.type === "shutdown") break;
    else yield { type: "reply", to: op.type, status: "noop", parent: op.id };
  }
  yield { type: "closed", code: 0 };
}

function* shout({ session, id, parts }) {
  const turn = { session, turn: `turn-${id}`, parent: id };
  yield { type: "turn.started", ...turn };
  yield { type: "text.done", ...turn, text: parts.map(({ text = "" }) => text.toUpperCase()).join("") };
  yield { type: "turn.ended", ...turn, outcome: "completed" };
}

const send = async (op) => {
  inbox.push(op);
  wake();
};
await serve({ send, events: events(), close: () => send({ type: "shutdown", when: "now" }) }, await loadDialect("native"), stdio("json"));
