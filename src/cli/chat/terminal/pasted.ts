/** A paste as the input takes it: without characters that steer the terminal, and the path of an image as a mention. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutSteering } from "../../../core/text/terminal-text.js";
import { escaped, unescaped } from "../../../engine/extensions/mentions/tokens.js";

const BEGIN = "\u001b[200~";
const END = "\u001b[201~";
export const EMPTY_PASTE = BEGIN + END;
const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

/** A key is left as it is. */
export function pasted(data: string, folder: string): string {
  if (!data.startsWith(BEGIN) || !data.endsWith(END)) return data;
  const text = withoutSteering(data.slice(BEGIN.length, -END.length));
  return `${BEGIN}${imageMentions(text, folder) ?? text}${END}`;
}

/** A text that is nothing but paths of images, as mentions; undefined for any other. */
export function imageMentions(text: string, folder: string): string | undefined {
  const whole = text.trim();
  const one = imageIn(whole, folder);
  const paths = one === undefined ? (whole.match(WORDS) ?? []).map((word) => imageIn(word, folder)) : [one];
  if (paths.length === 0 || whole.includes("\n") || !paths.every((path) => path !== undefined)) return undefined;
  return paths.map((path) => `@${escaped(path)} `).join("");
}

/** The words of a line as a shell takes them. */
const WORDS = /'[^']*'|"[^"]*"|(?:\\.|[^\s\\])+/g;

/** A file that is dropped on a terminal comes as its path, often in quotes, with backslashes, or as an address. */
function imageIn(text: string, folder: string): string | undefined {
  if (!IMAGE.test(text.replace(/['"]$/, ""))) return undefined;
  const [, quoted] = /^(?:'([^']*)'|"([^"]*)")$/.exec(text)?.filter((part) => part !== undefined) ?? [];
  const path = quoted ?? (text.startsWith("file://") ? pathOf(text) : unescaped(text));
  return path !== undefined && statSync(resolve(folder, path), { throwIfNoEntry: false })?.isFile() === true ? path : undefined;
}

function pathOf(address: string): string | undefined {
  try {
    return fileURLToPath(address);
  } catch {
    return undefined;
  }
}
