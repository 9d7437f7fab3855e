/** Names by content. Node's crypto loads forty modules, so this file loads it at its first use. */

/** A short name for a long text. */
export function digest(text: string, length: number): string {
  return contentHash(text).slice(0, length);
}

/** SHA-256, in hexadecimal. */
export function contentHash(content: string | Uint8Array): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(content).digest("hex");
}
