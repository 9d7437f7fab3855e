/** Arguments in the text of a skill: `$ARGUMENTS` is all of them as written, `$1` to `$9`, `${1}` and `${1:default}` are single ones. */

const PLACEHOLDER = /\$ARGUMENTS\b|\$([1-9])(?!\d)|\$\{([1-9])(?::([^{}]*))?\}/g;

/**
 * In one pass, so that nothing in an argument is taken for a placeholder. Arguments that no placeholder takes are appended. Where none
 * are given `$1` stays as it is written: then it is more likely a piece of shell code.
 */
export function fillIn(text: string, args: string): string {
  const given = args.trim();
  const words = splitWords(given);
  let isFilled = false;
  const filled = text.replace(PLACEHOLDER, (written: string, bare?: string, braced?: string, fallback?: string) => {
    isFilled = true;
    const place = bare ?? braced;
    if (place === undefined) return given;
    return words[Number(place) - 1] || (fallback ?? (given === "" ? written : ""));
  });
  return isFilled || given === "" ? filled : `${filled}\n\n<arguments>\n${given}\n</arguments>`;
}

/** Words as a shell would see them; quotes keep spaces, and one that is not closed reaches to the end. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  for (const [word] of text.matchAll(/(?:"[^"]*"?|'[^']*'?|[^\s"'])+/g)) {
    words.push(word.replace(/"([^"]*)"?|'([^']*)'?/g, (_, double?: string, single?: string) => double ?? single ?? ""));
  }
  return words;
}
