/** Asks the user whether to trust a workspace with settings of its own. The answer yes is kept. */
import { realpath } from "node:fs/promises";
import type { Loaded } from "../../settings/settings.js";
import { addTrust } from "../../settings/trust.js";
import type { Screen } from "./screen.js";
import type { LineInput } from "./line-input.js";

/** True when the user trusted the workspace just now, so that its settings count from here on. */
export async function askForTrust({ settings, ignored }: Loaded, input: LineInput, screen: Screen): Promise<boolean> {
  if (ignored === undefined) return false;
  screen.line(`This folder brings settings of its own, which can start programs and allow tools: ${screen.foreign(ignored)}`);
  const answer = await input.ask("Trust it? [y]es, [N]o: ", new AbortController().signal);
  if (answer === undefined || !/^\s*y(es)?\s*$/i.test(answer)) return false;
  await addTrust(settings.home, await realpath(settings.workspace));
  return true;
}
