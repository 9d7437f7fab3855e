/** Cutting a text into messages that a platform takes. The pieces joined are the text. */

/** Pieces of at most `limit` UTF-16 units (2 or more), cut behind line ends where that leaves no piece too small, never within a character. */
export function split(text: string, limit: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > limit) {
    const end = cutAt(rest, limit);
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return rest === "" ? pieces : [...pieces, rest];
}

function cutAt(text: string, limit: number): number {
  const lineEnd = text.lastIndexOf("\n", limit - 1) + 1;
  if (lineEnd > limit / 2) return lineEnd;
  const space = text.lastIndexOf(" ", limit - 1) + 1;
  if (space > limit / 2) return space;
  return isHigh(text.charCodeAt(limit - 1)) && isLow(text.charCodeAt(limit)) ? limit - 1 : limit;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
