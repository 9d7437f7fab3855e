/** The terminal chat: asks for trust, makes the engine, and opens the first session. */
import type { Loaded } from "../../settings/settings.js";
import { buildEngine } from "../compose/build-engine.js";
import { rehearsalFallback } from "../compose/rehearsal-fallback.js";
import { withOfflineModel } from "../compose/offline.js";
import { openingOf } from "../command-line/opening.js";
import type { Telemetry } from "../compose/telemetry.js";
import { Conversation } from "./conversation.js";
import { openTerminal } from "./terminal.js";
import { askForTrust } from "./trust.js";

type Env = Record<string, string | undefined>;

/** `reload` reads the settings again after the user trusted the workspace. */
export async function runChat(
  first: Loaded,
  reload: () => Promise<Loaded>,
  env: Env,
  prompt: string | undefined,
  telemetry: Telemetry,
): Promise<number> {
  const { input, screen } = openTerminal(first, env);
  const settled = (await askForTrust(first, input, screen)) ? await reload() : first;
  if (input.left !== undefined) return input.left;
  const { loaded, registered, end } = await withOfflineModel(settled, env, (line) => screen.line(line)).catch((error: unknown) => {
    input.close();
    throw error;
  });
  const { config, notice } = rehearsalFallback(loaded, env);
  for (const warning of [...loaded.warnings, ...(notice === undefined ? [] : [notice])]) screen.warning(warning);
  const agent = buildEngine(loaded, env, config, { registered, openTracer: telemetry.openTracer });
  const conversation = new Conversation(agent, input, screen);
  conversation.leaveOnSignals();
  try {
    return await conversation.run(openingOf(loaded), prompt);
  } finally {
    input.close();
    await agent.close();
    await end();
  }
}
