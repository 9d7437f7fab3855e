/** /tasks: the commands that run in the background, with their output, and ending one. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { BackgroundCommand } from "../../tools/shell/background-commands.js";
import type { CommandContext } from "./builtins.js";
import { columns } from "./columns.js";
import { always, hintAt, listing, message, suggestion, usageFault, wordsOf, type Command, type CommandOutcome } from "./command.js";

const USAGE = "[ID [show | end]]";
const GRACE_MS = 2000;
/** The end of the output that is shown. */
const SHOWN_BYTES = 32 * 1024;

export function tasksCommand({ control }: Pick<CommandContext, "control">): Command {
  const { commands } = control.session.shell;
  return {
    name: "tasks",
    description: "Lists the commands in the background, shows what one printed, or ends it",
    argumentHint: USAGE,
    source: "builtin",
    immediate: always,
    complete: async () => commands.all().flatMap(({ id, title }) => [suggestion(`${id} show`, title), suggestion(`${id} end`, title)]),
    async run(args) {
      const [id, what, ...more] = wordsOf(args);
      if (id === undefined) return list();
      const known = commands.all().map((each) => each.id);
      const command = commands.get(id);
      if (command === undefined) throw usageFault(`There is no background command '${id}'${hintAt(id, known)}`);
      if (what === undefined) return command.exit === undefined ? choice(command) : show(command);
      if (what === "show" && more.length === 0) return show(command);
      if (what !== "end" || more.length > 0) throw usageFault(`/tasks ${USAGE}, not '${args.trim()}'`);
      await command.end(GRACE_MS);
      return message(`${id} has ended: ${command.exit ?? "unknown"}.`);
    },
  };

  function list(): CommandOutcome {
    const all = commands.all();
    if (all.length === 0) return message("No command was started in the background.");
    const choices = all.map((command) => ({ value: command.id, label: `${command.id}  ${command.title}`, description: stateOf(command) }));
    return listing(columns(all.map((command) => [command.id, stateOf(command), command.title])), choices);
  }

  function choice({ id, title }: BackgroundCommand): CommandOutcome {
    const choices = [
      { value: `${id} show`, label: "Show its output" },
      { value: `${id} end`, label: "End it" },
    ];
    return { type: "dialog", dialog: "tasks", text: `${id} is running: ${title}`, choices };
  }

  function show(command: BackgroundCommand): CommandOutcome {
    const text = `${command.id}: ${stateOf(command)}; its whole output is in ${command.file}\n${endOf(command.file)}`;
    return { type: "tool", tool: "BashOutput", parts: [{ type: "terminal", text }] };
  }
}

function stateOf({ exit }: BackgroundCommand): string {
  return exit ?? "running";
}

/** The file holds redacted output. */
function endOf(file: string): string {
  const open = openSync(file, "r");
  try {
    const { size } = fstatSync(open);
    const bytes = Buffer.alloc(Math.min(size, SHOWN_BYTES));
    readSync(open, bytes, 0, bytes.length, size - bytes.length);
    const text = bytes.toString();
    return size > SHOWN_BYTES ? `…${text.slice(text.indexOf("\n"))}` : text || "(nothing yet)";
  } finally {
    closeSync(open);
  }
}
