/** /chat: points of the conversation to come back to, saved by name. */
import type { CommandContext } from "./builtins.js";
import { columns } from "./columns.js";
import { message, suggestion, usageFault, wordsOf, type Command, type CommandOutcome } from "./command.js";
import { SavedChats } from "./saved-chats.js";

const USAGE = "list | save TAG | resume TAG | delete TAG";

export function chatCommand({ control, conversations, redactor }: Pick<CommandContext, "control" | "conversations" | "redactor">): Command {
  const chats = new SavedChats(conversations, control.session.workspace.root, redactor);
  return {
    name: "chat",
    description: "Saves the conversation under a name, and goes back to it",
    argumentHint: USAGE,
    source: "builtin",
    immediate: (args) => (wordsOf(args)[0] ?? "list") === "list",
    async complete() {
      const tags = (await chats.list()).map(({ tag }) => tag);
      return [
        suggestion("list"),
        suggestion("save "),
        ...["resume", "delete"].flatMap((verb) => tags.map((tag) => suggestion(`${verb} ${tag}`))),
      ];
    },
    async run(args) {
      const [verb = "list", tag, ...more] = wordsOf(args);
      if (verb === "list") return list();
      if (!["save", "resume", "delete"].includes(verb)) throw usageFault(`/chat ${USAGE}, not '${verb}'`);
      if (tag === undefined || more.length > 0) throw usageFault(`/chat ${verb} takes one name`);
      if (verb === "save") return save(tag);
      return verb === "resume" ? resume(tag) : remove(tag);
    },
  };

  async function list(): Promise<CommandOutcome> {
    const saved = await chats.list();
    if (saved.length === 0) return message("No chat is saved in this workspace; /chat save TAG saves this one.");
    return message(columns(saved.map(({ tag, savedAt }) => [tag, new Date(savedAt).toISOString()])));
  }

  async function save(tag: string): Promise<CommandOutcome> {
    if (control.messages.length === 0) throw usageFault("The conversation is empty; there is nothing to save");
    await chats.save(tag, control.messages);
    return message(`Saved as '${tag}'; /chat resume ${tag} comes back to this point.`);
  }

  async function resume(tag: string): Promise<CommandOutcome> {
    const messages = await chats.load(tag);
    control.reset(messages);
    return message(`The conversation is '${tag}' again, with ${messages.length} messages.`);
  }

  async function remove(tag: string): Promise<CommandOutcome> {
    await chats.remove(tag);
    return message(`The saved chat '${tag}' is gone.`);
  }
}
