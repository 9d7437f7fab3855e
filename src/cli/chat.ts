/** The terminal chat: prompts from the keyboard, one session, until the user leaves. */
import { createInterface } from "node:readline/promises";
import type { Loaded } from "../engine/config.js";
import { openSession, type HostSession } from "../host/session.js";
import { Questions } from "./ask.js";
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
  // Ctrl-C interrupts the turn; a second one, or one without a turn, leaves.
  let code = 0;
  let interrupt: (() => void) | undefined;
  terminal.on("SIGINT", () => {
    if (interrupt === undefined) {
      code = 130;
      return terminal.close();
    }
    interrupt();
    interrupt = undefined;
  });
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => terminal.close());
  try {
    const session = await openSession(agent, openingOf(loaded));
    screen.line(
      `parley · ${session.ready.config?.provider ?? ""} ${session.ready.config?.model ?? ""} · ${loaded.settings.workspace} · /quit leaves`,
    );
    const questions = new Questions(terminal, screen, session);
    for (let prompt = first; ; prompt = undefined) {
      const line = prompt ?? (await terminal.question("\n> ", { signal: leave.signal }).catch(() => "/quit"));
      if (line.trim() === "/quit" || leave.signal.aborted) return code;
      if (line.trim() === "") continue;
      interrupt = () => void session.interrupt("interrupted by the user");
      await oneTurn(session, line, questions, screen);
      interrupt = undefined;
    }
  } finally {
    terminal.close();
    await agent.close();
  }
}

async function oneTurn(session: HostSession, prompt: string, questions: Questions, screen: Screen): Promise<void> {
  for await (const event of session.prompt(prompt)) {
    questions.follow(event);
    if (event.type === "turn.ended") screen.line(`(${event.outcome}; ${usageLine(event.usage)})`);
  }
}
