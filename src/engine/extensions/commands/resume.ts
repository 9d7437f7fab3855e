/** /resume: the stored sessions of this workspace. A session cannot become another one, so the host is told to open it. */
import { ParleyError } from "../../../core/errors.js";
import type { SessionSummary } from "../../store/store.js";
import { ageOf } from "./age.js";
import type { CommandContext } from "./builtins.js";
import { hintAt, suggestion, usageFault, withoutArguments, type Command } from "./command.js";

const MOST = 50;

export function resumeCommand({ control }: Pick<CommandContext, "control">): Command {
  return {
    name: "resume",
    description: "Goes on with a stored session of this workspace",
    argumentHint: "[id]",
    source: "builtin",
    immediate: withoutArguments,
    complete: async () => (await here()).slice(0, MOST).map((session) => suggestion(session.id, labelOf(session))),
    async run(args) {
      const sessions = await here();
      const id = args.trim();
      if (id === "") {
        const text = sessions.length === 0 ? "No session of this workspace is stored" : "The stored sessions of this workspace";
        return { type: "dialog", dialog: "resume", text, choices: sessions.slice(0, MOST).map(choice) };
      }
      const chosen = sessions.find((session) => session.id === id);
      const known = sessions.map((session) => session.id);
      if (chosen === undefined) throw usageFault(`No session '${id}' of this workspace is stored${hintAt(id, known)}`);
      return { type: "dialog", dialog: "resume", text: `The host opens session '${id}'`, choices: [choice(chosen)] };
    },
  };

  async function here(): Promise<SessionSummary[]> {
    const store = await control.openStore();
    if (store === undefined)
      throw new ParleyError({ code: "session", message: "Sessions are switched off, so none is stored", retryable: false });
    return (await store.list()).filter(({ cwd, archived }) => cwd === control.session.workspace.root && archived !== true);
  }

  function choice(session: SessionSummary): SessionChoice & { current: boolean } {
    return { ...sessionChoice(session), current: session.id === control.sessionId };
  }
}

interface SessionChoice {
  value: string;
  label: string;
  description: string;
}

/** A stored session in a list to pick from: its title, folder and age. */
export function sessionChoice(session: SessionSummary): SessionChoice {
  return { value: session.id, label: labelOf(session), description: `${session.cwd} · ${ageOf(session.usedAt)}` };
}

function labelOf({ name, firstPrompt }: SessionSummary): string {
  return name ?? (firstPrompt || "(nothing was said)");
}
