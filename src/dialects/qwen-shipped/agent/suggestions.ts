/** The choices in `can_use_tool` that a host shows. */
import type { Call } from "../../../core/event.js";
import type { QuestionForm } from "../../kit/stream-json/agent/questions.js";
import { wireTool } from "../wire/names.js";

interface Suggestion {
  type: "allow" | "deny" | "modify";
  label: string;
  description: string;
}

export const QUESTION_FORM: QuestionForm = {
  toolName: wireTool,
  permissionFields: (call) => fieldsWith(suggestionsFor(call)),
  questionFields: fieldsWith([
    { type: "allow", label: "Submit", description: "Answer the questions" },
    { type: "deny", label: "Cancel", description: "Leave the questions unanswered" },
  ]),
};

function fieldsWith(permission_suggestions: readonly Suggestion[]): object {
  return { permission_suggestions, blocked_path: null };
}

function suggestionsFor({ category, title = "", name }: Call): Suggestion[] {
  const deny = (description: string): Suggestion => ({ type: "deny", label: "Deny", description });
  const allow = (label: string, description: string): Suggestion => ({ type: "allow", label, description });
  const what = title === "" ? wireTool(name) : title;
  switch (category) {
    case "edit":
      return [
        allow("Allow Edit", what),
        deny("Block this file edit"),
        { type: "modify", label: "Review Changes", description: "Review the proposed changes before they are made" },
      ];
    case "mcp":
      return [allow("Allow MCP Tool", what), deny("Block this MCP server call")];
    case "exec":
      return [allow("Allow Command", what), deny("Block this command execution")];
    case "info":
    case undefined:
      return [allow("Allow", what), deny("Block this tool call")];
    default:
      return category satisfies never;
  }
}
