/** The chat's list to pick from, drawn by itself and taken away again. */
import { matchesKey, TUI } from "@earendil-works/pi-tui";
import { Theme, type Looks } from "../theme.js";
import type { Choice } from "../view.js";
import { ChatTerminal, FOCUS_IN, FOCUS_OUT, LAST_FRAME_MS } from "./chat-terminal.js";
import { Picker } from "./picker.js";

const SIGINT_CODE = 130;
const SIGTERM_CODE = 143;

/** The value that the user picks; undefined where none is picked. Ctrl-C leaves the program. */
export async function pickInList(title: string, choices: readonly Choice[], looks: Looks): Promise<string | undefined> {
  const terminal = new ChatTerminal(looks.unicode);
  const tui = new TUI(terminal);
  const giveBack = (): void => tui.stop();
  const leave = (): void => process.exit(SIGTERM_CODE);
  process.once("exit", giveBack);
  process.once("SIGTERM", leave);
  const picked = await new Promise<string | undefined>((resolve) => {
    const picker = new Picker(new Theme(looks), title, choices, resolve);
    tui.addChild(picker);
    tui.setFocus(picker);
    tui.addInputListener((data) => {
      if (matchesKey(data, "ctrl+c")) process.exit(SIGINT_CODE);
      if (matchesKey(data, "ctrl+d")) resolve(undefined);
      return { consume: data === FOCUS_IN || data === FOCUS_OUT };
    });
    process.stdin.once("end", () => resolve(undefined));
    tui.start();
  });
  tui.clear();
  tui.requestRender();
  await new Promise((resolve) => setTimeout(resolve, LAST_FRAME_MS));
  await terminal.drainInput();
  process.off("exit", giveBack);
  process.off("SIGTERM", leave);
  tui.stop();
  return picked;
}
