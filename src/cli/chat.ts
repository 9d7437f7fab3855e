/** The terminal chat: prompts from the keyboard, one session, until the user leaves. */
import { createInterface, type Interface } from "node:readline/promises";
import type { Loaded } from "../engine/config.js";
import { openSession, type HostSession } from "../host/session.js";
import { askForApproval } from "./ask.js";
import { buildEngine } from "./build-engine.js";
import { rehearsalFallback } from "./fallback.js";
import { openingOf } from "./opening.js";
import { Screen, usageLine, wantsColour } from "./screen.js";

type Env = Record<string, string | undefined>;

export async function runChat(loaded: Loaded, env: Env, first: string | undefined): Promise<number> {
  const screen = new Screen({ answer: process.stdout, aside: process.stdout, colour: wantsColour(process.stdout, env) });
  const { config, notice } = rehearsalFallback(loaded, env);
  for (const warning of [...loaded.warnings, ...(notice === undefined ? [] : [notice])]) screen.line(`! ${warning}`);
  const agent = buildEngine(loaded, env, config);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const leave = new AbortController();
  terminal.on("close", () => leave.abort());
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => terminal.close());
  try {
    const session = await openSession(agent, openingOf(loaded));
    screen.line(
      `parley · ${session.ready.config?.provider ?? ""} ${session.ready.config?.model ?? ""} · ${loaded.settings.workspace} · /quit leaves`,
    );
    for (let prompt = first; ; prompt = undefined) {
      const line = prompt ?? (await terminal.question("\n> ", { signal: leave.signal }).catch(() => "/quit"));
      if (line.trim() === "/quit" || leave.signal.aborted) return 0;
      if (line.trim() !== "") await oneTurn(session, line, terminal, screen);
    }
  } finally {
    terminal.close();
    await agent.close();
  }
}

/** Ctrl-C interrupts the turn; a second one leaves. */
async function oneTurn(session: HostSession, prompt: string, terminal: Interface, screen: Screen): Promise<void> {
  let stopped = false;
  const stop = (): void => {
    if (stopped) return terminal.close();
    stopped = true;
    void session.interrupt("interrupted by the user");
  };
  terminal.on("SIGINT", stop);
  try {
    for await (const event of session.prompt(prompt)) {
      screen.show(event);
      if (event.type === "approval.requested") await session.answer(await askForApproval(event, terminal, screen));
      if (event.type === "turn.ended") screen.line(`(${event.outcome}; ${usageLine(event.usage)})`);
    }
  } finally {
    terminal.off("SIGINT", stop);
  }
}
