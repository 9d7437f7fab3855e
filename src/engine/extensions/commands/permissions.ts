/** /permissions: the calls that a yes for more than one lets run unasked, and taking such a yes back. */
import type { CommandContext } from "./builtins.js";
import { hintAt, message, suggestion, usageFault, type Command, type CommandOutcome } from "./command.js";

const USAGE = "[list | remove RULE]";
const REMOVE = /^remove\s+(\S.*)$/s;

export function permissionsCommand({ control }: Pick<CommandContext, "control">): Command {
  const { grants } = control.session.permissions;
  return {
    name: "permissions",
    description: "Lists what runs unasked because you said always, and takes it back",
    argumentHint: USAGE,
    source: "builtin",
    immediate: isList,
    complete: async () => [suggestion("list"), ...(await grants.list()).map(({ rule }) => suggestion(`remove ${rule}`))],
    async run(args) {
      if (isList(args)) return list();
      const [, rule] = REMOVE.exec(args.trim()) ?? [];
      if (rule === undefined) throw usageFault(`/permissions ${USAGE}, not '${args.trim()}'`);
      const known = (await grants.list()).map((grant) => grant.rule);
      if (!(await grants.takeBack(rule))) throw usageFault(`There is no permission '${rule}'${hintAt(rule, known)}`);
      return message(`'${rule}' is asked about again.`);
    },
  };

  async function list(): Promise<CommandOutcome> {
    const all = await grants.list();
    if (all.length === 0) return message("Nothing runs unasked because of a yes for always.");
    const choices = all.map(({ rule, isKept }) => ({
      value: `remove ${rule}`,
      label: rule,
      description: isKept ? "always in this project" : "in this session",
    }));
    return { type: "dialog", dialog: "permissions", text: "These run unasked; choose one to take it back", choices };
  }
}

function isList(args: string): boolean {
  return ["", "list"].includes(args.trim());
}
