/** Content blocks of ACP and their conversion to and from parts. */
import * as v from "valibot";
import { plainText, textPart, type Part } from "../../../core/content.js";
import { issuesOf } from "../../kit/issues.js";

const text = v.string();

const TextBlock = v.looseObject({ type: v.literal("text"), text });
const ImageBlock = v.looseObject({ type: v.literal("image"), data: text, mimeType: text, uri: v.nullish(text) });
const AudioBlock = v.looseObject({ type: v.literal("audio"), data: text, mimeType: text });
const ResourceLink = v.looseObject({
  type: v.literal("resource_link"),
  uri: text,
  name: text,
  mimeType: v.nullish(text),
  title: v.nullish(text),
  description: v.nullish(text),
  size: v.nullish(v.number()),
});
const EmbeddedResource = v.looseObject({
  type: v.literal("resource"),
  resource: v.looseObject({ uri: text, mimeType: v.nullish(text), text: v.nullish(text), blob: v.nullish(text) }),
});

const KnownBlock = v.variant("type", [TextBlock, ImageBlock, AudioBlock, ResourceLink, EmbeddedResource]);
type KnownBlock = v.InferOutput<typeof KnownBlock>;

/** Unknown types are allowed: a later revision may add some. */
export const ContentBlock = v.union([KnownBlock, v.looseObject({ type: text })]);
export type ContentBlock = v.InferOutput<typeof ContentBlock>;

/** Describes the problem of a block whose kind is known; undefined if there is none. */
export function blockProblem(block: ContentBlock): string | undefined {
  const isKnown = KnownBlock.options.some(({ entries }) => entries.type.literal === block.type);
  return isKnown && !v.is(KnownBlock, block) ? issuesOf(KnownBlock, block) : undefined;
}

export function partOf(block: ContentBlock): Part {
  return v.is(KnownBlock, block) ? knownPart(block) : { type: "json", data: block };
}

function knownPart(block: KnownBlock): Part {
  switch (block.type) {
    case "text":
      return textPart(block.text);
    case "image":
      return { type: "image", mime: block.mimeType, data: block.data };
    case "audio":
      return { type: "file", name: "audio", mime: block.mimeType, data: block.data };
    case "resource_link":
      return linkPart(block);
    case "resource": {
      const { uri, mimeType, text: words, blob } = block.resource;
      return {
        type: "resource",
        uri,
        ...(mimeType != null && { mime: mimeType }),
        ...(words != null && { text: words }),
        ...(blob != null && { data: blob }),
      };
    }
    default:
      block satisfies never;
      return { type: "json", data: block };
  }
}

function linkPart({ uri, name, mimeType }: v.InferOutput<typeof ResourceLink>): Part {
  const path = pathOf(uri);
  const mime = mimeType == null ? {} : { mime: mimeType };
  return path === undefined ? { type: "file", uri, name, ...mime } : { type: "file", path, name, ...mime };
}

/** The path of a `file:` address. */
function pathOf(uri: string): string | undefined {
  const [, path] = /^file:\/\/(?:localhost)?(\/[^?#]*)/i.exec(uri) ?? [];
  if (path === undefined) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function uriOf(path: string): string {
  return `file://${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** The block for a part; undefined if the wire has none and the part has no text. */
export function blockOf(part: Part): ContentBlock | undefined {
  switch (part.type) {
    case "image":
      return { type: "image", data: part.data, mimeType: part.mime };
    case "file":
      return fileBlock(part);
    case "resource":
      return {
        type: "resource",
        resource: {
          uri: part.uri,
          ...(part.mime !== undefined && { mimeType: part.mime }),
          ...(part.text === undefined && part.data !== undefined ? { blob: part.data } : { text: part.text ?? "" }),
        },
      };
    case "text":
    case "diff":
    case "todo":
    case "plan":
    case "terminal":
    case "json": {
      const words = plainText([part]);
      return words === "" ? undefined : { type: "text", text: words };
    }
    default:
      part satisfies never;
  }
}

function fileBlock({ path, uri, name, mime, text: words, data }: Extract<Part, { type: "file" }>): ContentBlock {
  const address = uri ?? (path === undefined ? `file:///${name ?? "attachment"}` : uriOf(path));
  const mimeType = mime === undefined ? {} : { mimeType: mime };
  if (words !== undefined) return { type: "resource", resource: { uri: address, ...mimeType, text: words } };
  if (data !== undefined) return { type: "resource", resource: { uri: address, ...mimeType, blob: data } };
  return { type: "resource_link", uri: address, name: name ?? path?.split("/").at(-1) ?? address, ...mimeType };
}
