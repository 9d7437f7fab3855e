/** From a session's id, which is the host's and may hold anything, to the name of its folder, and back. */
import { ParleyError } from "../../../core/errors.js";

const LONGEST_ID = 128;
/** File systems take names of 255 bytes. */
const LONGEST_NAME = 200;

/**
 * Folder names differ for different ids, and hold no dots or slashes. An id that would be too long percent-encoded is written more densely.
 */
export function folderName(id: string): string {
  const bytes = Buffer.byteLength(id);
  if (bytes === 0 || bytes > LONGEST_ID) throw fault(`A session id has 1 to ${LONGEST_ID} bytes, not ${bytes}`);
  if (!id.isWellFormed()) throw fault(`The session id ${JSON.stringify(id)} is not valid Unicode`);
  if (id === "latest") throw fault("'latest' means the session last used in a folder; no session can have that id");
  const name = encodeURIComponent(id).replace(/[.!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return name.length <= LONGEST_NAME ? name : `~${Buffer.from(id).toString("base64url")}`;
}

/** Undefined where the name is no session's. */
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
