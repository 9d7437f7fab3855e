/** Shows the result of a command to a person at a terminal. */
import * as v from "valibot";
import { CommandReply } from "../../core/command.js";
import { THEMES, type Screen } from "./screen.js";
import { table } from "../command-line/table.js";

export const THEMES_HELP = `Themes: ${THEMES.join(", ")}. /theme NAME takes one; 'theme: NAME' in config.yaml keeps it.`;

/** Whether a line is a command; a path or a fraction is none. */
export function commandOf(line: string): { name: string; args: string } | undefined {
  const [, name, args = ""] = /^\/([a-z][\w:.-]*|\?)(?:\s+([^]*))?$/i.exec(line) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}

/** True when the command continues: as a turn, or in another session. */
export function showResult(data: unknown, screen: Screen, resume: (session: string) => void): boolean {
  if (!v.is(CommandReply, data)) return false;
  const { command, result } = data;
  switch (result.type) {
    case "submit_prompt":
      return true;
    case "tool":
      screen.parts(result.parts);
      return false;
    case "message":
      showMessage(command.name, result, screen);
      return false;
    case "dialog": {
      const [chosen] = result.choices ?? [];
      const isChosen = result.dialog === "resume" && chosen !== undefined && command.args !== undefined && command.args !== "";
      if (isChosen) resume(chosen.value);
      else showDialog(result, screen);
      return isChosen;
    }
    default:
      result satisfies never;
      return false;
  }
}

function showMessage(command: string, { level, text }: Result<"message">, screen: Screen): void {
  if (command === "copy" && level === "info") screen.copy(text);
  else if (level === "error") screen.error(text);
  else if (level === "warning") screen.warning(text);
  else screen.line(screen.foreign(text));
}

type Result<T> = Extract<CommandReply["result"], { type: T }>;

function showDialog({ dialog, text, choices = [] }: Result<"dialog">, screen: Screen): void {
  screen.line(screen.foreign(text));
  if (choices.length === 0) return;
  const rows = choices.map(({ value, label, description = "", current }): [string, string] =>
    dialog === "help"
      ? [label ?? value, description]
      : [`${current === true ? "●" : "○"} ${value}`, [label, description].join("  ").trim()],
  );
  screen.line(screen.foreign(table(rows, screen.width)));
}
