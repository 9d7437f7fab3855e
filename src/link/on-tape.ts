/** Records a connection to an agent: its wire, and the ops and events beside it. */
import type { Agent } from "../core/agent.js";
import { messageSecrets } from "../core/secrets/message-secrets.js";
import { Redactor } from "../core/secrets/redact.js";
import { secretValues } from "../core/secrets/secrets.js";
import { VERSION } from "../core/version.js";
import type { Dialect } from "../dialects/dialect.js";
import type { Seam, Tape } from "../transports/tape.js";
import type { Dial } from "./options.js";

/** `connectPlain` connects without a tape. If the tape cannot be opened, the first dial fails with a message that names the file. */
export function onTape(path: string, dialect: Dialect, dial: Dial, connectPlain: (dial: Dial) => Agent): Agent {
  const redactor = new Redactor(secretValues(process.env));
  let connections = 0;
  const opened = open(path, dialect, redactor);
  // The first dial reports the error.
  opened.catch(() => {});
  const agent = connectPlain(async (launch) => {
    const { tape } = await opened;
    const begun = { dir: "out" as const, turn: said(launch.env, dialect), input: launch.input };
    return tape.of(await dial(launch), { framing: dialect.framing, conn: String(++connections), redactor, begun });
  });
  const seam = async (): Promise<Seam | undefined> => (await opened.catch(() => undefined))?.seam;
  return {
    async send(op) {
      await (await seam())?.op(op);
      await agent.send(op);
    },
    events: heard(),
    async close() {
      await agent.close();
      await end();
    },
  };

  async function* heard(): Agent["events"] {
    for await (const event of agent.events) {
      await (await seam())?.event(event);
      yield event;
    }
    await end();
  }

  async function end(): Promise<void> {
    const all = await opened.catch(() => undefined);
    all?.seam.over();
    await all?.tape.close();
  }
}

async function open(path: string, dialect: Dialect, redactor: Redactor): Promise<{ tape: Tape; seam: Seam }> {
  const { Tape: Recording } = await import("../transports/tape.js");
  const start = { format: 2, version: VERSION, side: "host", dialect: dialect.id };
  const tape = await Recording.open(path, start, {
    secretsIn: (message) => messageSecrets(message, process.env),
    onFailure: (why) => process.emitWarning(`The tape ${path} has gaps: ${why}`),
  });
  return { tape, seam: tape.seam({ redactor }) };
}

/** The environment variables of a turn, on a wire with a process for each turn. */
function said(env: Readonly<Record<string, string | undefined>>, { lifetime }: Dialect): Record<string, string> {
  if (lifetime !== "turn") return {};
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
