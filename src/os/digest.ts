/** A short name for a long text. Only here is it known that Node's crypto, forty modules of its own, is loaded when it is first needed. */
export function digest(text: string, length: number): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex").slice(0, length);
}
