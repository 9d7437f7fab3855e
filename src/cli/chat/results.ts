/** Shows the result of a command to a person. */
import type { CommandReply } from "../../core/command.js";
import type { ChatView } from "./view.js";

/** Whether a text is a command: one line that begins with a slash and a name; a path or a fraction is none. */
export function commandOf(text: string): { name: string; args: string } | undefined {
  const [, name, args = ""] = /^\/([a-z][\w:.-]*|\?)(?:[ \t]+(.*))?$/i.exec(text) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}

export function showResult(command: string, result: CommandReply["result"], view: ChatView): void {
  switch (result.type) {
    case "submit_prompt":
      return;
    case "tool":
      return view.parts(result.parts);
    case "message":
      if (command === "copy" && result.level === "info") return view.copy(result.text);
      return view.say(result.level === "info" ? "plain" : result.level, result.text);
    case "dialog": {
      const rows = (result.choices ?? []).map(({ value, label = value, description = "" }) =>
        `  ${label.padEnd(24)}  ${description}`.trimEnd(),
      );
      return view.say("plain", [result.text, ...rows].join("\n"));
    }
    default:
      result satisfies never;
  }
}
