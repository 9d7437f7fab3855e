/** Converts the attachments of a message between links on the wire and parts of a prompt. */
import * as v from "valibot";
import type { Part, PartOf } from "../../../core/content.js";
import { isRecord } from "../../../core/values/json-object.js";
import { parseJson } from "../../../core/values/parse-json.js";
import { EnvAttachment, RecordAttachment } from "./records.js";

/** An attachment in the form that every wire and every profile has. */
export interface Attachment {
  type: RecordAttachment["kind"];
  url: string;
  name: string;
  mime?: string | undefined;
}

const MIME_OF_TYPE = { image: "image/*", audio: "audio/*", video: "video/*", other: "*/*", file: undefined } as const;

/** A kind that the MIME type does not imply is kept beside it. */
export function attachmentPart({ type, url, name, mime = MIME_OF_TYPE[type] }: Attachment): PartOf<"file"> {
  const own = typeOf(mime) === type ? {} : { ext: { agentproc: { kind: type } } };
  return { type: "file", uri: url, ...(name !== "" && { name }), ...(mime !== undefined && { mime }), ...own };
}

/** The attachments among the parts of a prompt; content by value becomes a data URL. */
export function attachmentsOf(parts: readonly Part[], cwd: string | undefined): Attachment[] {
  return parts.flatMap((part): Attachment[] => {
    if (part.type === "image") return [{ type: "image", url: dataUrl(part.mime, part.data), name: part.name ?? "", mime: part.mime }];
    if (part.type !== "file") return [];
    const { name = part.path?.split("/").at(-1) ?? "", mime } = part;
    const url = part.uri ?? urlOf(part, cwd);
    return url === undefined
      ? []
      : [{ type: kindOf(part) ?? typeOf(mime), url, name, ...(mime !== undefined && !mime.includes("*") && { mime }) }];
  });
}

function kindOf({ ext }: PartOf<"file">): Attachment["type"] | undefined {
  const own = ext?.["agentproc"];
  const kind = isRecord(own) ? own["kind"] : undefined;
  return v.is(RecordAttachment.entries.kind, kind) ? kind : undefined;
}

function typeOf(mime: string | undefined): Attachment["type"] {
  if (mime === "*/*") return "other";
  const kind = mime?.split("/")[0];
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "file";
}

function urlOf({ path, text, data, mime = "application/octet-stream" }: PartOf<"file">, cwd: string | undefined): string | undefined {
  if (data !== undefined) return dataUrl(mime, data);
  if (text !== undefined) return `data:text/plain;charset=utf-8,${encodeURIComponent(text.toWellFormed())}`;
  if (path === undefined) return undefined;
  const whole = path.startsWith("/") || cwd === undefined ? path : `${cwd}/${path}`;
  return `file://${whole.toWellFormed().split("/").map(encodeURIComponent).join("/")}`;
}

function dataUrl(mime: string, base64: string): string {
  return `data:${mime};base64,${base64}`;
}

// --- 0.1 and 0.2 ---

/** A variable for a single image and one for a single file; a list for all of them. */
export function envOfAttachments(attachments: readonly Attachment[]): Record<string, string> {
  if (attachments.length === 0) return {};
  const list = attachments.map(({ type, url, name }): EnvAttachment => ({ type: type === "other" ? "file" : type, url, name }));
  const only = (type: string): string | undefined => {
    const found = list.filter((each) => each.type === type);
    return found.length === 1 ? found[0]?.url : undefined;
  };
  const [image, file] = [only("image"), only("file")];
  return {
    ...(image !== undefined && { AGENT_IMAGE_URL: image }),
    ...(file !== undefined && { AGENT_FILE_URL: file }),
    AGENT_ATTACHMENTS: JSON.stringify(list),
  };
}

/** The list counts if it can be read; items without type and url are left out. */
export function attachmentsOfEnv(env: Readonly<Record<string, string | undefined>>): Attachment[] {
  const listed = parseJson(env["AGENT_ATTACHMENTS"] ?? "")?.json;
  if (Array.isArray(listed)) return listed.flatMap(readAttachment);
  const { AGENT_IMAGE_URL: image, AGENT_FILE_URL: file } = env;
  return [
    ...(image ? [{ type: "image" as const, url: image, name: "" }] : []),
    ...(file ? [{ type: "file" as const, url: file, name: "" }] : []),
  ];
}

// --- 0.3 and 0.4 ---

export function recordOfAttachment({ type, url, name, mime }: Attachment): RecordAttachment {
  return { kind: type, url, ...(name !== "" && { filename: name }), ...(mime !== undefined && { mime_type: mime }) };
}

/** Takes `type` and `kind`, `name` and `filename` alike; an unknown type is another kind of file. */
export function readAttachment(said: unknown): Attachment[] {
  if (!isRecord(said)) return [];
  const { url, mime_type } = said;
  const type = said["type"] ?? said["kind"];
  const name = said["name"] ?? said["filename"];
  if (typeof url !== "string" || url === "" || typeof type !== "string" || type === "") return [];
  const known = v.is(EnvAttachment.entries.type, type) ? type : "other";
  return [{ type: known, url, name: typeof name === "string" ? name : "", ...(typeof mime_type === "string" && { mime: mime_type }) }];
}
