/** The options that a reading program may have: any other one makes the command one that is asked about. */

export interface Grammar {
  /** Letters without a value; they may be joined. */
  letters?: string;
  /** Letters with a value, joined or in the next word. */
  valued?: string;
  /** Long options by name: `name`, `name=` with a value, `name?` with one that only stands behind `=`. */
  long?: string;
  /** `-5` is an option. */
  counts?: true;
}

interface Given {
  operands: string[];
  /** The options that were given: `-e`, `--glob`. */
  options: { name: string; value?: string }[];
  /** Values that stood in a word of their own. They are judged like operands, should the program take them for such. */
  apart: string[];
}

/** Undefined where a word is an option that the grammar does not have. */
export function readOptions(args: readonly string[], { letters = "", valued = "", long = "", counts }: Grammar): Given | undefined {
  const names = new Set(long.split(" "));
  const given: Given = { operands: [], options: [], apart: [] };
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "--") {
      given.operands.push(...args.slice(at + 1));
      return given;
    }
    if (!/^-./.test(word)) given.operands.push(word);
    else if (counts === true && /^-\d+$/.test(word)) given.options.push({ name: word });
    else if (word.startsWith("--") ? !longOption(word, at) : !shortOptions(word, at)) return undefined;
    else if (takesNext(word)) at++;
  }
  return given;

  function longOption(word: string, at: number): boolean {
    const [name, value] = splitOnce(word.slice(2));
    if (value !== undefined) {
      given.options.push({ name: `--${name}`, value });
      return names.has(`${name}=`) || names.has(`${name}?`);
    }
    if (names.has(`${name}=`)) return withNext(`--${name}`, at);
    given.options.push({ name: `--${name}` });
    return names.has(name) || names.has(`${name}?`);
  }

  function shortOptions(word: string, at: number): boolean {
    for (let index = 1; index < word.length; index++) {
      const letter = word.charAt(index);
      const rest = word.slice(index + 1);
      if (valued.includes(letter)) {
        if (rest === "") return withNext(`-${letter}`, at);
        given.options.push({ name: `-${letter}`, value: rest });
        return true;
      }
      if (!letters.includes(letter)) return false;
      given.options.push({ name: `-${letter}` });
    }
    return true;
  }

  function withNext(name: string, at: number): boolean {
    const value = args[at + 1];
    if (value === undefined || value.startsWith("-")) return false;
    given.options.push({ name, value });
    if (value.length > 1) given.apart.push(value);
    return true;
  }

  function takesNext(word: string): boolean {
    if (word.startsWith("--")) return !word.includes("=") && names.has(`${word.slice(2)}=`);
    for (let index = 1; index < word.length; index++) {
      if (valued.includes(word.charAt(index))) return index === word.length - 1;
    }
    return false;
  }
}

function splitOnce(text: string): [string, string?] {
  const at = text.indexOf("=");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
