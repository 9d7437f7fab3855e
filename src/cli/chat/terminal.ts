/** A keyboard and a screen that share one terminal. */
import { Redactor } from "../../core/secrets/redact.js";
import type { Loaded } from "../../settings/settings.js";
import { secretValues } from "../../core/secrets/secrets.js";
import { Screen, wantsColour } from "./screen.js";
import { LineInput } from "./line-input.js";

export function openTerminal({ settings }: Loaded, env: Record<string, string | undefined>): { input: LineInput; screen: Screen } {
  const { home, apiKey, theme } = settings;
  const redactor = new Redactor([...secretValues(env), ...(apiKey === undefined ? [] : [apiKey])]);
  const input = new LineInput(home, redactor, env["TERM"]);
  const { rows } = input;
  return { input, screen: new Screen({ answer: rows, aside: rows, colour: wantsColour(process.stdout, env), theme, progress: true }) };
}
