/** Text patterns in which `*` stands for any text, line breaks and spaces too. Linear: no regular expression to blow up. */

export interface Wildcard {
  /** Whether it ends with `*`. */
  readonly open: boolean;
  /** The text in front of its first `*`. */
  readonly head: string;
  matches(text: string): boolean;
  /** Whether some text that begins with `prefix` would match. */
  mayMatch(prefix: string): boolean;
}

export function wildcard(pattern: string): Wildcard {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined)
    return { open: false, head: first, matches: (text) => text === first, mayMatch: (prefix) => first.startsWith(prefix) };
  return {
    open: last === "",
    head: first,
    matches(text) {
      if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
      const end = text.length - last.length;
      let at = first.length;
      for (const part of others) {
        const found = text.indexOf(part, at);
        if (found < 0 || found + part.length > end) return false;
        at = found + part.length;
      }
      return true;
    },
    mayMatch: (prefix) => prefix.startsWith(first) || first.startsWith(prefix),
  };
}
