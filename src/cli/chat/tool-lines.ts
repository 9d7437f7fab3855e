/** The output of running tools as whole lines, up to a limit for each call; further lines are counted. */

interface Printed {
  open: string;
  lines: number;
}

export class ToolLines {
  readonly #most: number;
  readonly #calls = new Map<string, Printed>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The new whole lines that are shown. */
  take({ call, text = "" }: { call: string; text?: string | undefined }): string[] {
    const printed = this.#calls.get(call) ?? { open: "", lines: 0 };
    this.#calls.set(call, printed);
    const lines = `${printed.open}${text}`.split(/\r?\n/);
    printed.open = lines.pop() ?? "";
    const from = printed.lines;
    printed.lines += lines.length;
    return lines.slice(0, Math.max(0, this.#most - from));
  }

  /** The rest of a finished call's output; `shown` when some of it was shown before. */
  end(call: string): { shown: boolean; rest: string[] } {
    const printed = this.#calls.get(call);
    if (printed === undefined) return { shown: false, rest: [] };
    this.#calls.delete(call);
    const { open, lines } = printed;
    const hidden = lines - this.#most;
    if (hidden > 0) return { shown: true, rest: [`… ${hidden} more lines`] };
    return { shown: true, rest: open === "" ? [] : [`│ ${open}`] };
  }
}
