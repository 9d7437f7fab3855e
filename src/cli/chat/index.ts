/** The terminal chat: asks for trust, makes the engine, and opens the first session. */
import { realpath } from "node:fs/promises";
import type { Loaded } from "../../settings/settings.js";
import { addTrust } from "../../settings/trust.js";
import { buildEngine } from "../compose/build-engine.js";
import { rehearsalFallback } from "../compose/rehearsal-fallback.js";
import { withOfflineModel } from "../compose/offline.js";
import { openingOf } from "../command-line/opening.js";
import type { Telemetry } from "../compose/telemetry.js";
import { conversationIn, openView } from "./open-chat.js";
import type { ChatView } from "./view.js";

type Env = Record<string, string | undefined>;

/** `reload` reads the settings again after the user trusted the workspace. */
export async function runChat(
  first: Loaded,
  reload: () => Promise<Loaded>,
  env: Env,
  prompt: string | undefined,
  telemetry: Telemetry,
): Promise<number> {
  const view = await openView(first, env);
  let farewell: string | undefined;
  try {
    const settled = (await askForTrust(first, view)) ? await reload() : first;
    if (view.code !== 0) return view.code;
    const { loaded, registered, end } = await withOfflineModel(settled, env, (line) => view.say("aside", line));
    const { config, notice } = rehearsalFallback(loaded, env);
    for (const warning of [...loaded.warnings, ...(notice === undefined ? [] : [notice])]) view.say("warning", warning);
    const agent = buildEngine(loaded, env, config, { registered, openTracer: telemetry.openTracer });
    const conversation = conversationIn(view, agent, loaded, env);
    try {
      return await conversation.run(openingOf(loaded), prompt);
    } finally {
      farewell = conversation.resumption === undefined ? undefined : `Go on later with: ${conversation.resumption}`;
      await agent.close();
      await end();
    }
  } finally {
    await view.dispose(farewell);
  }
}

/** True when the user trusted the workspace just now, so that its settings count from here on. The answer yes is kept. */
async function askForTrust({ settings, ignored }: Loaded, view: ChatView): Promise<boolean> {
  if (ignored === undefined) return false;
  const text = `This folder brings settings of its own, which can start programs and allow tools: ${ignored}`;
  const answer = await view.pick(`${text}\nTrust it?`, [
    { value: "no", label: "No, leave them out" },
    { value: "yes", label: "Yes, trust this folder" },
  ]);
  if (answer !== "yes") return false;
  await addTrust(settings.home, await realpath(settings.workspace));
  return true;
}
