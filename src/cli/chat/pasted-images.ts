/** Images from the clipboard: a word in a prompt stands for each, and the prompt with that word takes the image along. */
import type { Part } from "../../core/content.js";
import { imageType } from "../../engine/tools/files/image-type.js";
import { clipboardImage } from "../../os/clipboard.js";

/** The engine takes no larger ones. */
const MAX_BYTES = 20 * 2 ** 20;

export class PastedImages {
  readonly #images = new Map<string, Part>();

  /** The word for the image that is on the clipboard now; throws a sentence where there is none. */
  async take(): Promise<string> {
    const bytes = await clipboardImage(MAX_BYTES);
    const mime = imageType(bytes);
    if (mime === null) throw new Error("What is on the clipboard is no PNG, JPEG, GIF or WebP image.");
    const name = `image #${this.#images.size + 1}`;
    this.#images.set(`[${name}]`, { type: "image", mime, data: bytes.toString("base64"), name });
    return `[${name}]`;
  }

  /** The images whose words are in the text. */
  in(text: string): Part[] {
    return [...this.#images].flatMap(([word, image]) => (text.includes(word) ? [image] : []));
  }
}
