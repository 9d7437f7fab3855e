/** One line for a call: the tool by the name that rules know, and what it is about. */
import type { Call } from "../../core/event.js";

/** The arguments that say what a call is about, the first that is there. */
const SUBJECTS = ["command", "file_path", "path", "pattern", "url", "query", "id"];

export function callTitle({ name, title, args = {}, paths = [] }: Call): string {
  if (name.startsWith("mcp__")) return title ?? name;
  const said = SUBJECTS.map((key) => args[key]).find((value) => typeof value === "string" && value !== "");
  const subject = typeof said === "string" ? said : (paths[0] ?? plainTitle(name, title));
  return subject === "" ? name : `${name} ${oneLine(subject)}`;
}

/** A title without the tool's name, which stands before it: "Spawn: one, two", "Ask: Which colour?". */
function plainTitle(name: string, title = ""): string {
  if (title === name) return "";
  const [first = ""] = title.split(": ", 1);
  return name.startsWith(first) ? title.slice(first.length + 2) : title;
}

function oneLine(text: string): string {
  const [first = "", ...more] = text.trim().split("\n");
  return more.length === 0 ? first : `${first} …`;
}
