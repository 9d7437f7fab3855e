/** Servers' answers as parts for the model and the host: within bounds, and with a word for each part that is left out. */
import type { CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult } from "@modelcontextprotocol/client";
import { textPart, type Part, type PartOf } from "../../../core/content.js";
import { IMAGE_CHARS } from "../../../core/limits.js";
import type { Redactor } from "../../../core/secrets/redact.js";
import { capText } from "../../workspace/output.js";
import type { ToolResult } from "../../tools/tool.js";

/** Base64 of one image; providers refuse larger ones, and with them the whole request. */
const MAX_IMAGE_CHARS = 7 * 1024 * 1024;
const MAX_IMAGES = 10;

export interface Bounds {
  outputChars: number;
  redactor: Redactor;
}

export function toolResult(result: CallToolResult, bounds: Bounds): ToolResult {
  const parts = bounded([...result.content.map(blockPart), ...structured(result)], bounds);
  return { parts: parts.length === 0 ? [textPart("(no output)")] : parts, ...(result.isError === true && { failed: true }) };
}

export function resourceParts({ contents }: ReadResourceResult, bounds: Bounds): Part[] {
  return bounded(contents.map(resourcePart), bounds);
}

/** The assistant's lines in a prompt are marked: a prompt is one message of the user. */
export function promptParts({ messages }: GetPromptResult, bounds: Bounds): Part[] {
  const parts = messages.map(({ role, content }): Part => {
    const part = blockPart(content);
    return role === "assistant" && part.type === "text" ? textPart(`Assistant: ${part.text}`) : part;
  });
  return bounded(parts, bounds);
}

function blockPart(block: ContentBlock): Part {
  switch (block.type) {
    case "text":
      return textPart(block.text);
    case "image":
      return { type: "image", mime: block.mimeType, data: block.data };
    case "audio":
      return textPart(`(Audio of type ${block.mimeType} was left out: models take none)`);
    case "resource":
      return resourcePart(block.resource);
    case "resource_link":
      return textPart(`Resource ${block.uri} (${[block.title ?? block.name, block.description].filter(Boolean).join(": ")})`);
    default:
      block satisfies never;
      return textPart("(Content of an unknown type was left out)");
  }
}

function resourcePart(resource: ReadResourceResult["contents"][number]): Part {
  const { uri, mimeType: mime } = resource;
  if ("text" in resource) return { type: "resource", uri, ...(mime !== undefined && { mime }), text: resource.text };
  if (mime?.startsWith("image/") === true) return { type: "image", mime, data: resource.blob, name: uri };
  return textPart(`(${uri}, ${mime ?? "binary data"} of ${Math.floor((resource.blob.length * 3) / 4)} bytes, was left out)`);
}

/** Most servers say the same as text, too; once is enough. */
function structured({ content, structuredContent }: CallToolResult): Part[] {
  if (structuredContent === undefined) return [];
  const same = JSON.stringify(structuredContent);
  return content.some((block) => block.type === "text" && compact(block.text) === same) ? [] : [{ type: "json", data: structuredContent }];
}

function compact(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** All text together stays within the bound. It is redacted before it is cut: half a secret would not be found. */
function bounded(parts: readonly Part[], { outputChars, redactor }: Bounds): Part[] {
  let room = outputChars;
  let images = 0;
  let imageRoom = IMAGE_CHARS;
  const fit = (text: string): string => {
    const safe = capText(redactor.text(text), Math.max(0, room));
    room -= safe.length;
    return safe;
  };
  const kept: Part[] = [];
  for (const part of parts) {
    if (part.type === "image") kept.push(fitImage(part));
    else if (room <= 0) return [...kept, textPart("(The rest was left out: it is more than the bound for output)")];
    else if (part.type === "text") kept.push(textPart(fit(part.text)));
    else if (part.type === "resource") kept.push({ ...part, text: fit(part.text ?? "") });
    else if (part.type === "json") kept.push(fits(part.data) ?? textPart(fit(JSON.stringify(part.data))));
  }
  return kept;

  function fitImage(part: PartOf<"image">): Part {
    const problem = imageProblem(part.data, ++images, imageRoom);
    if (problem === undefined) imageRoom -= part.data.length;
    return problem ?? part;
  }

  function fits(data: unknown): Part | undefined {
    const { length } = JSON.stringify(data);
    if (length > room) return undefined;
    room -= length;
    return { type: "json", data };
  }
}

function imageProblem(data: string, nth: number, room: number): Part | undefined {
  if (nth > MAX_IMAGES) return textPart(`(An image was left out: more than ${MAX_IMAGES})`);
  if (data.length > MAX_IMAGE_CHARS) return textPart(`(An image of ${data.length} characters in base64 was left out: too large)`);
  if (data.length > room) return textPart(`(An image was left out: all together have more than ${IMAGE_CHARS} characters in base64)`);
  return undefined;
}
