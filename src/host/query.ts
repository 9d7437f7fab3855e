/** One prompt to an agent, and its result. */
import type { Agent } from "../core/agent.js";
import type { Part } from "../core/content.js";
import { openSession, type Hosting, type Opening, type RunOptions } from "./session.js";
import type { TurnResult } from "./turn-result.js";

/** The agent, its session and the prompt's options in one. */
export interface Query extends Opening, Hosting, RunOptions {
  agent: Agent;
}

/**
 * Opens a session, runs one prompt, and closes the agent. Throws the refusal of the session; whatever happens to the prompt is in the
 * result.
 *
 * @example
 * const { text } = await query("What does this project do?", { agent: drive(await loadDialect("claude"), ["claude"]) });
 */
export async function query(prompt: string | Part[], { agent, signal, mentions, ext, ...opening }: Query): Promise<TurnResult> {
  const session = await openSession(agent, opening);
  try {
    return await session.run(prompt, {
      ...(signal !== undefined && { signal }),
      ...(mentions !== undefined && { mentions }),
      ...(ext !== undefined && { ext }),
    });
  } finally {
    await session.close();
  }
}
