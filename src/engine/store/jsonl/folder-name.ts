/** Converts a session's id, which the host may choose freely, to the name of its folder, and back. */
import { ParleyError } from "../../../core/errors.js";

const LONGEST_ID = 128;
/** File systems take names of up to 255 bytes. */
const LONGEST_NAME = 200;

/**
 * Different ids have different folder names, without dots or slashes. An id that is too long percent-encoded is written in base64.
 */
export function folderName(id: string): string {
  const bytes = Buffer.byteLength(id);
  if (bytes === 0 || bytes > LONGEST_ID) throw fault(`A session id has 1 to ${LONGEST_ID} bytes, not ${bytes}`);
  if (!id.isWellFormed()) throw fault(`The session id ${JSON.stringify(id)} is not valid Unicode`);
  if (id === "latest") throw fault("'latest' means the session last used in a folder; no session can have that id");
  const name = encodeURIComponent(id).replace(/[.!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return name.length <= LONGEST_NAME ? name : `~${Buffer.from(id).toString("base64url")}`;
}

/** Undefined if the name is not a session's. */
export function idOf(folder: string): string | undefined {
  try {
    const id = folder.startsWith("~") ? Buffer.from(folder.slice(1), "base64url").toString() : decodeURIComponent(folder);
    return folderName(id) === folder ? id : undefined;
  } catch {
    return undefined;
  }
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "session", message, retryable: false });
}
