/** /rewind: the turns that can be taken back, and taking one back with all behind it. */
import type { LoggedTurn } from "../../store/logged-turns.js";
import { askedBy, chosenTurn } from "../../undo/asked.js";
import { ageOf } from "./age.js";
import type { CommandContext } from "./builtins.js";
import { firstLine } from "./columns.js";
import { message, suggestion, usageFault, withoutArguments, wordsOf, type Command, type CommandOutcome } from "./command.js";

const USAGE = "[TURN [--files] [--conversation] [--force]]";
const FLAGS: readonly string[] = ["--files", "--conversation", "--force"];
const MOST = 100;

export function rewindCommand({ control }: Pick<CommandContext, "control">): Command {
  return {
    name: "rewind",
    description: "Takes back turns: the files that they changed, and the conversation",
    argumentHint: USAGE,
    source: "builtin",
    immediate: withoutArguments,
    complete: async () => (await choices()).map(({ value, label }) => suggestion(value, label)),
    async run(args) {
      const words = wordsOf(args);
      const [wanted, ...more] = words.filter((word) => !FLAGS.includes(word));
      if (wanted === undefined && words.length === 0) return list();
      if (wanted === undefined || more.length > 0) throw usageFault(`/rewind ${USAGE}: 1 is the last turn, 2 the one before it`);
      const turn = chosenTurn(await control.turns(), wanted);
      const given = (flag: string): true | undefined => words.includes(flag) || undefined;
      const asked = askedBy({ turn, files: given("--files"), conversation: given("--conversation"), force: given("--force") });
      const { files, left, why = {} } = await control.rewind(asked);
      const lines = [
        ...(asked.conversation ? ["The conversation is as it was before."] : []),
        ...(asked.files && files.length === 0 && left.length === 0 ? ["No file was changed since."] : []),
        ...(files.length > 0 ? [`As before: ${files.join(", ")}`] : []),
        ...left.map((path) => `Left as it is: ${path} (${why[path] ?? ""})`),
        ...(left.length > 0 ? ["--force takes back what was changed since, too."] : []),
      ];
      return message(lines.join("\n"), left.length > 0 ? "warning" : "info");
    },
  };

  async function list(): Promise<CommandOutcome> {
    const found = await choices();
    if (found.length === 0) return message("There is no turn to take back.");
    return { type: "dialog", dialog: "rewind", text: "Back to before which turn?", choices: found };
  }

  /** The last turn first. */
  async function choices(): Promise<{ value: string; label: string; description: string }[]> {
    const turns = (await control.turns()).toReversed().slice(0, MOST);
    return turns.map((turn, at) => ({ value: String(at + 1), label: firstLine(turn.prompt), description: aboutOf(turn) }));
  }
}

function aboutOf({ at, changes }: LoggedTurn): string {
  const files = new Set(changes.map(({ path }) => path)).size;
  const when = ageOf(at);
  return files === 0 ? when : `${when}, ${files === 1 ? "1 file" : `${files} files`}`;
}
