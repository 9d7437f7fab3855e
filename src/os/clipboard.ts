/** The image on the clipboard, by the program of the desktop that reads it. */
import { execFile } from "node:child_process";
import { systemCode } from "../core/errors.js";

/** Each prints the image as PNG: on Wayland, X11 and macOS. */
const READERS: readonly (readonly [program: string, ...args: string[]])[] = [
  ["wl-paste", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
  ["pngpaste", "-"],
];
const WAIT_MS = 5000;

/** Throws a sentence where there is no program, or where none of those that are there finds an image. */
export async function clipboardImage(maxBytes: number): Promise<Buffer> {
  const missing: string[] = [];
  for (const [program, ...args] of READERS) {
    const read = await printed(program, args, maxBytes);
    if (read === "missing") missing.push(program);
    else if (read.length > 0) return read;
  }
  if (missing.length < READERS.length) throw new Error("There is no image on the clipboard.");
  const names = READERS.map(([program]) => program).join(", ");
  throw new Error(`No program that reads images from the clipboard is here (${names}): install one, or paste the path of the image.`);
}

/** Nothing where the program fails. */
function printed(program: string, args: readonly string[], maxBytes: number): Promise<Buffer | "missing"> {
  return new Promise((resolve) => {
    execFile(program, args, { encoding: "buffer", maxBuffer: maxBytes, timeout: WAIT_MS }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else resolve(systemCode(error) === "ENOENT" ? "missing" : Buffer.alloc(0));
    });
  });
}
