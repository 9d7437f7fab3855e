/** A list to pick from, with a filter that is typed. Esc picks nothing. */
import {
  fuzzyFilter,
  getKeybindings,
  Input,
  SelectList,
  type Component,
  type Focusable,
  type SelectListTheme,
} from "@earendil-works/pi-tui";
import type { Theme } from "../theme.js";
import type { Choice } from "../view.js";
import { clipped, wrapped } from "./blocks.js";
import { foreign } from "./part-rows.js";

const MOST_ROWS = 10;

export function listTheme(theme: Theme): SelectListTheme {
  return {
    selectedPrefix: (text) => theme.paint("accent", text),
    selectedText: (text) => theme.bold(text),
    description: (text) => theme.paint("aside", text),
    scrollInfo: (text) => theme.paint("aside", text),
    noMatch: () => theme.paint("aside", "  Nothing matches"),
  };
}

export class Picker implements Component, Focusable {
  focused = false;
  readonly #theme: Theme;
  readonly #title: string;
  readonly #choices: readonly Choice[];
  readonly #filter = new Input();
  readonly #done: (value: string | undefined) => void;
  #list: SelectList;

  constructor(theme: Theme, title: string, choices: readonly Choice[], done: (value: string | undefined) => void) {
    this.#theme = theme;
    this.#title = foreign(title);
    this.#choices = choices;
    this.#done = done;
    this.#list = this.#listOf(choices);
    const current = choices.findIndex((choice) => choice.current === true);
    if (current > 0) this.#list.setSelectedIndex(current);
  }

  handleInput(data: string): void {
    const keys = getKeybindings();
    const isForList = (["up", "down", "pageUp", "pageDown", "confirm", "cancel"] as const).some((name) =>
      keys.matches(data, `tui.select.${name}`),
    );
    if (isForList) return this.#list.handleInput(data);
    this.#filter.handleInput(data);
    const words = this.#filter.getValue();
    this.#list = this.#listOf(
      words === "" ? this.#choices : fuzzyFilter([...this.#choices], words, ({ label, description = "" }) => `${label} ${description}`),
    );
  }

  render(width: number): string[] {
    this.#filter.focused = this.focused;
    const title = wrapped(this.#title, width).map((row) => this.#theme.bold(row));
    const hint = this.#theme.paint("aside", "Enter takes it, Esc does not");
    return clipped(["", ...title, ...this.#filter.render(width), ...this.#list.render(width), hint], width);
  }

  invalidate(): void {
    this.#filter.invalidate();
    this.#list.invalidate();
  }

  #listOf(choices: readonly Choice[]): SelectList {
    const items = choices.map(({ value, label, description = "", current }) => ({
      value,
      label: `${current === true ? this.#theme.marks.call : " "} ${foreign(label)}`,
      description: foreign(description),
    }));
    const list = new SelectList(items, MOST_ROWS, listTheme(this.#theme), { minPrimaryColumnWidth: 24, maxPrimaryColumnWidth: 60 });
    list.onSelect = ({ value }) => this.#done(value);
    list.onCancel = () => this.#done(undefined);
    return list;
  }
}
