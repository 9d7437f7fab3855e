/** Terminal styling: removes escape sequences from a text and keeps them as positions and spans over the rest. */
import type { Said } from "./lines.js";
import type { Terminal } from "../wire/event-records.js";

export type Styled = { content: string; ansi: NonNullable<Terminal["ansi"]>; spans: NonNullable<Terminal["spans"]> };

/** The CLI's theme: its colours by SGR code. */
const THEME: Readonly<Record<number, string>> = {
  30: "Foreground",
  31: "AccentRed",
  32: "AccentGreen",
  33: "AccentYellow",
  34: "AccentBlue",
  35: "AccentBlue",
  36: "AccentCyan",
  37: "Foreground",
  90: "Comment",
  91: "AccentRed",
  92: "AccentGreen",
  93: "AccentYellow",
  94: "AccentBlue",
  95: "AccentBlue",
  96: "AccentCyan",
  97: "Foreground",
};

/** CSI and OSC sequences, and sequences of two characters. */
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;
/** An unfinished sequence, which the next piece may complete. */
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const BEGUN = /\u001b(?:\[[0-?]*[ -/]*|\][^\u0007\u001b]{0,4096}\u001b?)?$/;

/** Reads one stream of text piece by piece; a sequence may be cut anywhere, and a colour lasts until it is reset. */
export class AnsiReader {
  #rest = "";
  #token: string | undefined;

  /** `last`: no more text follows, so an unfinished sequence is plain text. */
  read(piece: string, last = false): Styled {
    let text = this.#rest + piece;
    const begun = last ? undefined : BEGUN.exec(text)?.[0];
    this.#rest = begun ?? "";
    if (begun !== undefined) text = text.slice(0, text.length - begun.length);
    const styled: Styled = { content: "", ansi: [], spans: [] };
    let from = 0;
    for (const match of text.matchAll(SEQUENCE)) {
      this.#add(styled, text.slice(from, match.index));
      styled.ansi.push({ offset: styled.content.length, code: match[0] });
      this.#colour(match[0]);
      from = match.index + match[0].length;
    }
    this.#add(styled, text.slice(from));
    return styled;
  }

  #add(styled: Styled, plain: string): void {
    const start = styled.content.length;
    styled.content += plain;
    if (this.#token === undefined || plain === "") return;
    styled.spans.push({ start, end: styled.content.length, style: { theme_token: this.#token } });
  }

  #colour(sequence: string): void {
    // oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
    const codes = /^\u001b\[([0-9;]*)m$/.exec(sequence)?.[1];
    if (codes === undefined) return;
    // 38 and 48 are followed by a colour number, or by red, green and blue. None of those is in the theme.
    for (const [code = ""] of codes.matchAll(/[34]8;(?:5;\d*|2;\d*;\d*;\d*)|\d+|^$/g)) {
      if (/^(?:0*|39|38;.*)$/.test(code)) this.#token = undefined;
      else this.#token = THEME[Number(code)] ?? this.#token;
    }
  }
}

/** A patch as a terminal would show it. */
export function styledPatch(patch: string): Styled {
  const spans: Styled["spans"] = [];
  let start = 0;
  let isHead = true;
  for (const line of patch.split("\n")) {
    isHead &&= !line.startsWith("@@");
    const token = patchToken(line, isHead);
    if (token !== undefined) spans.push({ start, end: start + line.length, style: { theme_token: token } });
    start += line.length + 1;
  }
  return { content: patch, ansi: [], spans };
}

function patchToken(line: string, isHead: boolean): string | undefined {
  if (isHead && /^(\+\+\+|---) /.test(line)) return "Comment";
  if (line.startsWith("@@")) return "AccentCyan";
  if (line.startsWith("+")) return "DiffAdded";
  return line.startsWith("-") ? "DiffRemoved" : undefined;
}

/** The annotation with the styling and the source of a line. */
export function terminal(
  { turn }: Said,
  kind: Omit<Terminal, "type" | "spans" | "ansi" | "prompt_id">,
  styled: Pick<Styled, "ansi" | "spans"> = { ansi: [], spans: [] },
): Terminal {
  const { ansi, spans } = styled;
  return {
    type: "x-qwen-terminal",
    ...kind,
    spans,
    ansi,
    console_level: kind.console_level ?? null,
    exit_code: kind.exit_code ?? null,
    ...(turn !== undefined && { prompt_id: turn.promptId }),
  };
}
