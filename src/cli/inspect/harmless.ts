/** Ids, names, prompts and paths come from others: none of them may move the cursor, begin a line or reverse one. */
export function harmless(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "\u{FFFD}");
}
