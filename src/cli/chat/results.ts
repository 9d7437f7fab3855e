/** What came of a command, for a person at a terminal. */
import * as v from "valibot";
import { CommandReply } from "../../core/command.js";
import { THEMES, type Screen } from "../screen.js";

export const THEMES_HELP = `Themes: ${THEMES.join(", ")}. /theme NAME takes one; 'theme: NAME' in config.yaml keeps it.`;

/** A line that is a command; a path or a fraction is none. */
export function commandOf(line: string): { name: string; args: string } | undefined {
  const [, name, args = ""] = /^\/([a-z][\w:.-]*)(?:\s+([^]*))?$/i.exec(line) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}

/** True when the command goes on: as a turn, or in another session. */
export function showResult(name: string, data: unknown, screen: Screen, resume: (session: string) => void): boolean {
  if (!v.is(CommandReply, data)) return false;
  const { result } = data;
  switch (result.type) {
    case "submit_prompt":
      return true;
    case "tool":
      screen.parts(result.parts);
      return false;
    case "message":
      if (name === "copy" && result.level === "info") screen.copy(result.text);
      else if (result.level === "error") screen.error(result.text);
      else screen.line(screen.foreign(result.text));
      return false;
    case "dialog": {
      const [only] = result.choices ?? [];
      if (result.dialog === "resume" && result.choices?.length === 1 && only !== undefined && data.command.args !== "") {
        resume(only.value);
        return true;
      }
      screen.line(screen.foreign(result.text));
      for (const { value, label, description, current } of result.choices ?? [])
        screen.line(
          screen.foreign(
            `  ${current === true ? "●" : "○"} ${value}${label === undefined ? "" : `  ${label}`}${description === undefined ? "" : `  ${description}`}`,
          ),
        );
      return false;
    }
    default:
      return false;
  }
}
