/** A table of names and their meanings, in two columns that fit the terminal. */

const WIDEST_NAME = 24;
const NARROWEST_TEXT = 20;

/** A name that is too long takes a line of its own; a long meaning continues below itself. */
export function table(rows: readonly (readonly [name: string, meaning: string])[], width: number): string {
  const column = Math.max(0, ...rows.map(([name]) => name.length).filter((length) => length <= WIDEST_NAME)) + 2;
  const indent = " ".repeat(column + 2);
  return rows
    .map(([name, meaning]) => {
      const lines = wrapped(meaning, Math.max(NARROWEST_TEXT, width - indent.length));
      const start = name.length <= WIDEST_NAME ? name.padEnd(column) : `${name}\n${indent}`;
      return `  ${start}${lines.join(`\n${indent}`)}`.trimEnd();
    })
    .join("\n");
}

/** Breaks a text between words; a word that is too long stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
