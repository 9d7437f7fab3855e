/** Variables whose value a program runs: `PAGER='rm x' git log` runs `rm x`. */
import { baseName, type ShellWord } from "./shell-words.js";

const RUNNING = /(?:PAGER|EDITOR|VISUAL|BROWSER|COMMAND|ASKPASS|LESSOPEN|LESSCLOSE|GIT_SSH|GIT_EXTERNAL_DIFF|RSYNC_RSH)$/;
/** Programs that take `NAME=value` among their words. */
const SETTING = new Set("env export declare typeset readonly local sudo doas".split(" "));

/** What running variables are set to by the words of a command, or by an assignment in front of one. */
export function runningValues([first, ...rest]: readonly ShellWord[]): ShellWord[] {
  const named = SETTING.has(baseName(first?.value ?? "")) ? rest : [];
  return [...(first === undefined ? [] : [first]), ...named].flatMap(({ value, kind }) => {
    const [, name = "", set = ""] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(value) ?? [];
    // A pipe in front is how less is told that it is a command.
    return RUNNING.test(name) ? [{ value: set.replace(/^\|*-?/, ""), kind }] : [];
  });
}
