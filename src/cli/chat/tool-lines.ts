/** The output of running tools as whole lines: the first lines of each call as they come, the last ones when it has ended. */

interface Printed {
  /** The beginning of a line. */
  open: string;
  /** Whole lines so far. */
  lines: number;
  /** The last lines that are not shown yet. */
  last: string[];
}

export class ToolLines {
  readonly #most: number;
  readonly #calls = new Map<string, Printed>();

  /** `most` first and as many last lines are shown. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The new whole lines that are shown. */
  take({ call, text = "" }: { call: string; text?: string | undefined }): string[] {
    const printed = this.#calls.get(call) ?? { open: "", lines: 0, last: [] };
    this.#calls.set(call, printed);
    const lines = `${printed.open}${text}`.split(/\r?\n/);
    printed.open = lines.pop() ?? "";
    const first = Math.max(0, this.#most - printed.lines);
    printed.lines += lines.length;
    printed.last = [...printed.last, ...lines.slice(first)].slice(-this.#most);
    return lines.slice(0, first);
  }

  /** The rest of a finished call's output; `shown` when some of it was shown before. */
  end(call: string): { shown: boolean; rest: string[] } {
    const printed = this.#calls.get(call);
    if (printed === undefined) return { shown: false, rest: [] };
    this.#calls.delete(call);
    const { open, lines, last } = printed;
    const more = lines - this.#most - last.length;
    const rest = [...last, ...(open === "" ? [] : [open])].map((line) => `│ ${line}`);
    return { shown: true, rest: more > 0 ? [moreLines(more), ...rest] : rest };
  }
}

export function moreLines(count: number): string {
  return `… ${count} more ${count === 1 ? "line" : "lines"}`;
}
