/** The prompt of a one-prompt run: its words, what is piped, and the files that flags attach. */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Part } from "../../core/content.js";
import { ParleyError, systemReason } from "../../core/errors.js";
import { imageType } from "../../engine/tools/files/image-type.js";
import { promptWords, texts, usage, type Parsed } from "../command-line/flags.js";
import { isOwnCommandLine } from "../command-line/host-program.js";
import { promptOf } from "../command-line/piped-prompt.js";
import { workingFolder } from "../compose/working-folder.js";

export interface OnePrompt {
  /** The words, and what is piped behind them. */
  text: string;
  /** The words of the command line, in which `@file` attaches that file; undefined when the prompt came on stdin. */
  mentioning: string | undefined;
  /** A file that is mentioned must be there: other programs' command lines take any words. */
  isStrict: boolean;
  attached: Part[];
  isFromStdin: boolean;
}

export async function readPrompt(parsed: Parsed): Promise<OnePrompt> {
  const given = promptWords(parsed);
  const attached = await attachedBy(parsed);
  const isFromStdin = given === undefined || given === "-";
  return { text: await promptOf(given), mentioning: isFromStdin ? undefined : given, isStrict: isOwnCommandLine(), attached, isFromStdin };
}

/** The files of `--file` and `--image`. A file that cannot be attached is wrong usage. */
async function attachedBy(parsed: Parsed): Promise<Part[]> {
  const files = texts(parsed, "file").map((path) => attachedFile(path));
  const images = texts(parsed, "image").map((path) => attachedImage(path));
  return Promise.all([...files, ...images]);
}

/** Larger files are refused by the engine, too. */
const MAX_MIB = 20;

async function attachedFile(path: string): Promise<Part> {
  const whole = resolve(workingFolder(), path);
  const info = await stat(whole).catch((error: unknown) => {
    throw usage(`--file '${path}' cannot be read: ${systemReason(error)}`);
  });
  if (info.isFile() && info.size > MAX_MIB * 2 ** 20)
    throw usage(`--file '${path}' is larger than ${MAX_MIB} MiB; name it in the prompt, and it is read in pieces`);
  return { type: "file", path: whole, name: path };
}

async function attachedImage(path: string): Promise<Part> {
  try {
    const whole = resolve(workingFolder(), path);
    if ((await stat(whole)).size > MAX_MIB * 2 ** 20) throw usage(`--image '${path}' is larger than ${MAX_MIB} MiB; make it smaller`);
    const bytes = await readFile(whole);
    const mime = imageType(bytes);
    if (mime === null) throw usage(`--image '${path}' is no PNG, JPEG, GIF or WebP picture; --file attaches other files`);
    return { type: "image", mime, data: bytes.toString("base64"), name: path };
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    throw usage(`--image '${path}' cannot be read: ${systemReason(error)}`);
  }
}
