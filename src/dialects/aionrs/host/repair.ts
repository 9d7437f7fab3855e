/**
 * Repairs lines with a missing or differently spelled field, where that is harmless; the schemas judge the
 * result.
 */
import { categoryOf } from "../../../core/names.js";
import { isRecord } from "../../../core/values/json-object.js";

type Fields = Readonly<Record<string, unknown>>;

export function repaired(rec: unknown): unknown {
  if (!isRecord(rec)) return rec;
  switch (rec["type"]) {
    case "ready":
      return ready(rec);
    case "tool_request":
      return isRecord(rec["tool"]) ? { ...rec, tool: tool(rec["tool"]) } : rec;
    case "config_changed":
      return { ...rec, capabilities: capabilities(rec["capabilities"]) };
    case "tool_result":
      return result(rec);
    default:
      return rec;
  }
}

/** A missing name of the session is the same as none. */
function ready({ session_id, ...rest }: Fields): Fields {
  return { ...rest, ...(session_id !== null && { session_id }), capabilities: capabilities(rest["capabilities"]) };
}

/** A missing capability is off. */
function capabilities(said: unknown): Fields {
  const { effort_levels, modes, current_mode, ...given } = isRecord(said) ? said : {};
  const flags = ["tool_approval", "thinking", "mcp"].map((name) => [name, given[name] === true]);
  return {
    ...given,
    ...Object.fromEntries(flags),
    ...(isTexts(effort_levels) && { effort_levels }),
    ...(isTexts(modes) && { modes }),
    ...(typeof current_mode === "string" && { current_mode }),
  };
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Arguments of another shape stay invalid: a person cannot approve arguments that cannot be shown. */
function tool(said: Fields): Fields {
  const { name, category, description, args } = said;
  if (typeof name !== "string") return said;
  return {
    ...said,
    category: isOneOf(["info", "edit", "exec", "mcp"], category) ? category : categoryOf(name),
    description: typeof description === "string" ? description : name,
    args: args ?? {},
  };
}

/** Any other status of an ended call means that it has ended. */
function result({ output_type, metadata, ...said }: Fields): Fields {
  const { tool_name, status, output } = said;
  return {
    ...said,
    tool_name: typeof tool_name === "string" ? tool_name : "",
    status: status === "success" ? "success" : "error",
    output: typeof output === "string" ? output : output === undefined ? "" : JSON.stringify(output),
    ...(typeof output === "string" && isOneOf(["text", "diff", "image"], output_type) && { output_type }),
    ...(isRecord(metadata) && { metadata }),
  };
}

function isOneOf(words: readonly string[], word: unknown): boolean {
  return typeof word === "string" && words.includes(word);
}
