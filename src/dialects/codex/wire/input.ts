/** The input of a turn: converts between Codex's parts and ours. */
import { plainText, textPart, type Part } from "../../../core/content.js";
import type { UserInput } from "./items.js";

/** Our parts as input; `lost` has the types of the parts that the wire lacks. */
export function writeInput(parts: readonly Part[]): { input: UserInput[]; lost: string[] } {
  const input: UserInput[] = [];
  const lost: string[] = [];
  for (const part of parts) {
    if (part.type === "image") input.push({ type: "image", url: `data:${part.mime};base64,${part.data}` });
    else if (part.type === "file" && part.text === undefined && part.path !== undefined)
      input.push({ type: "mention", name: part.name ?? part.path.replace(/^.*[\\/]/, ""), path: part.path });
    else if (plainText([part]) !== "") input.push(textInput(plainText([part])));
    else if (part.type !== "text") lost.push(part.type);
  }
  return { input: input.length === 0 ? [textInput("")] : input, lost };
}

function textInput(text: string): UserInput {
  return { type: "text", text, text_elements: [] };
}

/** The input as our parts; a sentence if an item cannot be read. */
export function readInput(input: readonly UserInput[]): Part[] | string {
  const parts: Part[] = [];
  for (const each of input) {
    const part = readPart(each);
    if (part === undefined) return `input of type '${each.type}' without what it needs, or of no known type`;
    parts.push(part);
  }
  return parts;
}

function readPart({ type, text, url, path, name }: UserInput): Part | undefined {
  switch (type) {
    case "text":
      return text == null ? undefined : textPart(text);
    case "image": {
      const [, mime, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url ?? "") ?? [];
      if (mime !== undefined && data !== undefined) return { type: "image", mime, data };
      return url == null ? undefined : { type: "file", uri: url };
    }
    case "localImage":
    case "mention":
    case "skill":
      return path == null ? undefined : { type: "file", path, ...(name != null && { name }) };
    default:
      return undefined;
  }
}
