/** Reads a helper program's output line by line, and ends the program when the caller has enough. */
import { ParleyError } from "../../../core/errors.js";
import { OutputBuffer } from "../../workspace/output.js";
import type { ToolContext } from "../tool.js";

const MAX_ERROR_CHARS = 4000;

/** The workspace that the program runs in, and the signal that stops it. */
export type LineContext = Pick<ToolContext, "workspace" | "signal">;

interface LinesEnd {
  /** Null when the program was ended early. */
  code: number | null;
  stderr: string;
}

/** `onLine` returns false when it has enough. Throws when the call is interrupted. */
export async function runLines(
  context: LineContext,
  argv: readonly string[],
  cwd: string,
  onLine: (line: string) => boolean,
): Promise<LinesEnd> {
  const errors = new OutputBuffer(MAX_ERROR_CHARS);
  let rest = "";
  let enough = false;
  let stop = (): void => undefined;
  const stopped = new Promise<null>((resolve) => {
    stop = () => resolve(null);
  });
  const take = (text: string): void => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (lines.some((line) => !onLine(line))) {
      enough = true;
      stop();
    }
  };
  const running = await context.workspace.exec({
    argv,
    cwd,
    isAlone: true,
    onOutput: (channel, text) => {
      if (channel === "stderr") errors.push(text);
      else if (!enough) take(text);
    },
  });
  context.signal.addEventListener("abort", stop, { once: true });
  if (context.signal.aborted) stop();
  const exit = await Promise.race([running.exited, stopped]);
  context.signal.removeEventListener("abort", stop);
  if (exit === null) running.end(0).catch(() => undefined);
  if (context.signal.aborted) throw new ParleyError({ code: "tool", message: "The search was interrupted.", retryable: false });
  if (exit !== null && !enough && rest !== "") onLine(rest);
  return { code: enough ? null : (exit?.code ?? null), stderr: errors.text() };
}
