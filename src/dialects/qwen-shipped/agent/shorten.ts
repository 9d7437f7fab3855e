/** Bounds the text of a tool's result on this wire: the middle is cut, and the text says so. */

/** Its size in bytes, as JSON. */
const MOST = 65_536;
const MARK = "\n[... truncated for Headless transport ...]\n";

export function shortened(text: string): string {
  if (bytesOf(text) <= MOST) return text;
  // Each half is cut in proportion to its own bytes, as characters differ in size.
  const room = (MOST - bytesOf(MARK)) / 2;
  return `${head(text, room)}${MARK}${tail(text, room)}`;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(JSON.stringify(text)).length;
}

function head(text: string, room: number): string {
  let length = Math.min(text.length, room);
  while (length > 0 && bytesOf(text.slice(0, length)) > room) length = Math.floor(length * 0.9);
  return text.slice(0, length).toWellFormed();
}

function tail(text: string, room: number): string {
  let length = Math.min(text.length, room);
  while (length > 0 && bytesOf(text.slice(-length)) > room) length = Math.floor(length * 0.9);
  return text.slice(text.length - length).toWellFormed();
}
