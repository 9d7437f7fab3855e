/** How Markdown looks; code is coloured once its library is loaded, which the first block of code asks for. */
import type { MarkdownTheme } from "@earendil-works/pi-tui";
import type { Theme } from "../theme.js";
import type { Highlighter } from "./highlight.js";

/** Stands for a row above or below code, which is left out. Text of others holds no such sequence. */
export const CODE_BORDER = "\u001b[39;39m";

export function markdownTheme(theme: Theme, onHighlighter: () => void): MarkdownTheme {
  let highlighter: Highlighter | undefined;
  let isLoading = false;
  const load = (): void => {
    if (isLoading) return;
    isLoading = true;
    void import("./highlight.js").then((module) => {
      highlighter = module.highlighter(theme);
      onHighlighter();
    });
  };
  return {
    heading: (text) => theme.paint("heading", text),
    link: (text) => theme.underline(text),
    linkUrl: (text) => theme.paint("aside", text),
    code: (text) => theme.paint("code", text),
    codeBlock: (text) => text,
    codeBlockBorder: () => CODE_BORDER,
    quote: (text) => theme.italic(text),
    quoteBorder: (text) => theme.paint("aside", text),
    hr: (text) => theme.paint("aside", text),
    listBullet: (text) => theme.paint("accent", text),
    bold: (text) => theme.bold(text),
    italic: (text) => theme.italic(text),
    strikethrough: (text) => text,
    underline: (text) => theme.underline(text),
    highlightCode(code, language) {
      if (language !== undefined && theme.looks.colour) load();
      return highlighter?.(code, language) ?? code.split("\n");
    },
  };
}
