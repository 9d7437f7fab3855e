/** The looks of the chat: colours by role, and the marks that a terminal can show. */

/** The code of each role's colour. A light background needs darker colours, and some people want none. */
const COLOURS = {
  dark: {
    accent: "36",
    aside: "90",
    added: "32",
    removed: "31",
    hunk: "36",
    heading: "1;36",
    warning: "33",
    error: "31",
    good: "32",
    user: "1",
    code: "33",
  },
  light: {
    accent: "34",
    aside: "90",
    added: "32",
    removed: "31",
    hunk: "34",
    heading: "1;34",
    warning: "35",
    error: "31",
    good: "32",
    user: "1",
    code: "35",
  },
  plain: { accent: "", aside: "", added: "", removed: "", hunk: "", heading: "", warning: "", error: "", good: "", user: "", code: "" },
} as const;

export type ThemeName = keyof typeof COLOURS;
export type Role = keyof (typeof COLOURS)[ThemeName];
export const THEMES: readonly ThemeName[] = ["dark", "light", "plain"];

const MARKS = {
  unicode: {
    call: "●",
    done: "✓",
    failed: "✗",
    bar: "│",
    more: "…",
    thought: "✻",
    dot: "·",
    spin: "⠋ ⠙ ⠹ ⠸ ⠼ ⠴ ⠦ ⠧ ⠇ ⠏".split(" "),
    open: "☐",
    active: "◐",
    closed: "☑",
    queued: "⏎",
  },
  ascii: {
    call: "*",
    done: "+",
    failed: "x",
    bar: "|",
    more: "...",
    thought: "~",
    dot: "-",
    spin: "| / - \\".split(" "),
    open: "[ ]",
    active: "[~]",
    closed: "[x]",
    queued: ">",
  },
} as const;
export type Marks = (typeof MARKS)[keyof typeof MARKS];

export interface Looks {
  colour: boolean;
  unicode: boolean;
}

/** Changes with `/theme`; whoever draws asks it each time. */
export class Theme {
  readonly looks: Looks;
  readonly marks: Marks;
  #name: ThemeName;

  constructor(looks: Looks, name: ThemeName = "dark") {
    this.looks = looks;
    this.marks = looks.unicode ? MARKS.unicode : MARKS.ascii;
    this.#name = name;
  }

  get name(): ThemeName {
    return this.#name;
  }

  /** False when there is no such theme. */
  set(name: string): boolean {
    const known = THEMES.find((each) => each === name);
    if (known !== undefined) this.#name = known;
    return known !== undefined;
  }

  paint(role: Role, text: string): string {
    return this.#wrap(COLOURS[this.#name][role], "0", text);
  }

  bold(text: string): string {
    return this.#wrap("1", "22", text);
  }

  italic(text: string): string {
    return this.#wrap("3", "23", text);
  }

  underline(text: string): string {
    return this.#wrap("4", "24", text);
  }

  #wrap(code: string, end: string, text: string): string {
    return this.looks.colour && code !== "" && text !== "" ? `\u001b[${code}m${text}\u001b[${end}m` : text;
  }
}

type Env = Record<string, string | undefined>;

/** Colours respect NO_COLOR; marks beyond ASCII want a locale that is not plainly without them. */
export function looksOf(env: Env): Looks {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return { colour: !env["NO_COLOR"] && env["TERM"] !== "dumb", unicode: locale === "" || /utf-?8/i.test(locale) };
}

/** The looks of what is printed to this stream, which may be a pipe or a file. */
export function looksFor(stream: { isTTY?: boolean }, env: Env): Looks {
  const looks = looksOf(env);
  return { ...looks, colour: looks.colour && stream.isTTY === true };
}

const ASCII: Readonly<Record<string, string>> = {
  "─": "-",
  "│": "|",
  "┌": "+",
  "┐": "+",
  "└": "+",
  "┘": "+",
  "├": "+",
  "┤": "+",
  "┬": "+",
  "┴": "+",
  "┼": "+",
  "→": ">",
  "↑": "^",
  "↓": "v",
  "…": "...",
  "⋯": "...",
  "•": "*",
  "·": "-",
  "—": "-",
  "●": "*",
  "✗": "x",
  "☐": "[ ]",
  "◐": "[~]",
  "☑": "[x]",
};
const BEYOND_ASCII = new RegExp(`[${Object.keys(ASCII).join("")}]`, "g");

/** Marks and lines of ours as ASCII has them; letters of others stay. */
export function inAscii(text: string): string {
  return text.replace(BEYOND_ASCII, (mark) => ASCII[mark] ?? "?");
}
