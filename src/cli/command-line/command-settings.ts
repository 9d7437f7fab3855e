/** The settings of a command: files, environment, and what its command line says. */
import { loadSettings, type Loaded } from "../../settings/settings.js";
import type { Flags } from "../../settings/flags.js";
import { workingFolder } from "../compose/working-folder.js";
import { settingsFlags, type Parsed } from "./flags.js";

/** `more` are flags that the command itself stands for. */
export function commandSettings(parsed: Parsed, more: Flags = {}): Promise<Loaded> {
  return loadSettings({ flags: { ...settingsFlags(parsed), ...more }, env: process.env, cwd: workingFolder() });
}
