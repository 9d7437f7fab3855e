/** The text of a PDF by the program pdftotext, if it is installed. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ParleyError } from "../../../core/errors.js";
import { endingOf } from "../../workspace/command-end.js";
import { OutputBuffer } from "../../workspace/output.js";
import type { ToolContext } from "../tool.js";

const TIMEOUT_MS = 60_000;
const MAX_CHARS = 20 * 1024 * 1024;
const ERROR_CHARS = 500;

export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 1024)).toString("latin1").includes("%PDF-");
}

/** The lines of all pages; a sentence with the reason if there are none. */
export async function pdfLines(bytes: Uint8Array, context: ToolContext): Promise<string[] | { problem: string }> {
  // The program reads a copy: the path in the workspace may lead elsewhere by now.
  const folder = await realpath(await mkdtemp(join(tmpdir(), "parley-pdf-")));
  try {
    const file = join(folder, "file.pdf");
    await writeFile(file, bytes, { mode: 0o600 });
    const text = await extracted(folder, file, context);
    if (typeof text !== "string") return text;
    const pages = text.replace(/\f$/, "").split("\f");
    if (pages.every((page) => page.trim() === "")) {
      return {
        problem: `it has no text, only pictures of pages (${pages.length}). Turn its pages into images with Bash (pdftoppm) and Read those.`,
      };
    }
    return pages.flatMap((page, at) => [`--- page ${at + 1} of ${pages.length} ---`, ...page.replace(/\n+$/, "").split("\n")]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function extracted(folder: string, file: string, { workspace, signal }: ToolContext): Promise<string | { problem: string }> {
  const errors = new OutputBuffer(ERROR_CHARS);
  let text = "";
  const argv = ["pdftotext", "-layout", "-enc", "UTF-8", file, "-"];
  const onOutput = (channel: "stdout" | "stderr", piece: string): void => {
    if (channel === "stderr") errors.push(piece);
    else if (text.length <= MAX_CHARS) text += piece;
  };
  const running = await workspace.exec({ argv, cwd: folder, isAlone: true, onOutput }).catch((error: unknown) => {
    if (error instanceof ParleyError && error.fault.code === "launch") return undefined;
    throw error;
  });
  if (running === undefined) {
    return {
      problem: "the program pdftotext, which reads PDF text, is not installed (it is part of poppler-utils). Ask the user to install it.",
    };
  }
  const ending = await endingOf(running, TIMEOUT_MS, signal);
  if (ending === "interrupted") return { problem: "the call was interrupted." };
  if (ending === "timed out") return { problem: `pdftotext did not end within ${TIMEOUT_MS / 1000} s.` };
  if (ending.code !== 0) return { problem: `pdftotext could not read it: ${errors.text().trim()}` };
  if (text.length > MAX_CHARS)
    return { problem: `it has more than ${MAX_CHARS} characters of text. Read single pages with Bash (pdftotext -f 1 -l 10).` };
  return text;
}
