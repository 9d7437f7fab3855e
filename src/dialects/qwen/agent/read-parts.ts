/** Converts the parts of a request, tagged or in the form of `@google/genai`. */
import type { Part } from "../../../core/content.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { WirePart } from "../wire/op-records.js";

/** Text parts are joined, in order. */
export function textOf(parts: readonly WirePart[]): string {
  return parts.flatMap((part) => ("text" in part && typeof part.text === "string" ? [part.text] : [])).join("");
}

/** The parts that are not text. */
export function partsOf(parts: readonly WirePart[]): Part[] {
  return parts.flatMap((part): Part[] => {
    if ("text" in part) return [];
    if ("function_response" in part) return [{ type: "json", data: part.function_response.response }];
    if ("functionResponse" in part) return [{ type: "json", data: part.functionResponse.response }];
    if ("file_data" in part) return [file(part.file_data.file_uri, part.file_data.mime_type, part.file_data.display_name)];
    if ("fileData" in part) return [file(part.fileData.fileUri, part.fileData.mimeType, part.fileData.displayName)];
    if ("inline_data" in part) return [inline(part.inline_data.mime_type, part.inline_data.data, part.inline_data.display_name)];
    if ("inlineData" in part) return [inline(part.inlineData.mimeType, part.inlineData.data, part.inlineData.displayName)];
    return "image_url" in part ? [image(part.image_url.url)] : [];
  });
}

/** The result of a host's tool: the response, or its text. An `error` in it is a failure. */
export function toolResponse(parts: readonly WirePart[]): { ok: boolean; data: unknown } {
  const given = parts.find((part) => "function_response" in part || "functionResponse" in part);
  if (given === undefined) return { ok: true, data: textOf(parts) };
  const response = "function_response" in given ? given.function_response.response : undefined;
  const said = response ?? ("functionResponse" in given ? given.functionResponse.response : undefined);
  if (!isRecord(said)) return { ok: true, data: said ?? "" };
  if (said["error"] !== undefined) return { ok: false, data: { message: words(said["error"]) } };
  return { ok: true, data: said["output"] ?? said };
}

function words(value: unknown): string {
  if (typeof value === "string") return value;
  if (isRecord(value) && typeof value["message"] === "string") return value["message"];
  return JSON.stringify(value);
}

/** A file of this machine becomes its path. */
function file(uri: string, mime: string | null | undefined, name: string | null | undefined): Part {
  const more = { ...(mime != null && { mime }), ...(name != null && { name }) };
  const path = localPath(uri);
  return path === undefined ? { type: "file", uri, ...more } : { type: "file", path, ...more };
}

function localPath(uri: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(uri)) return uri;
  const [, path] = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(uri) ?? [];
  if (path === undefined) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Inline data that is no image is read as a linked file. */
function inline(mime: string, data: string, name: string | null | undefined): Part {
  const more = name != null ? { name } : {};
  if (mime.startsWith("image/")) return { type: "image", mime, data, ...more };
  return { type: "file", uri: `data:${mime};base64,${data}`, mime, ...more };
}

/** An image in the address itself, or a link to one. */
function image(url: string): Part {
  const [, mime, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return mime === undefined || data === undefined ? { type: "file", uri: url } : { type: "image", mime, data };
}
