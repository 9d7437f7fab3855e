/** Recognises messages that are commands for the bridge itself. */

const NAMES = ["new", "stop", "sessions", "approve", "deny", "help"] as const;
type CommandName = (typeof NAMES)[number];

export interface ChatCommand {
  name: CommandName;
  /** The first word behind the command, and all words behind it. */
  word: string;
  rest: string;
}

/** `/approve x7k2`, `/approve@our_bot x7k2`, or `/approve_x7k2`, which chats make a link of. Every other message is for the agent. */
export function commandIn(text: string): ChatCommand | undefined {
  const [, said, joined, words] = /^\s*\/([a-z]+)(?:_([a-z0-9]+))?(?:@\w+)?(?:\s+([^]*))?$/i.exec(text) ?? [];
  const name = NAMES.find((known) => known === said?.toLowerCase());
  if (name === undefined) return undefined;
  const behind = [joined ?? "", words ?? ""].filter((part) => part !== "").join(" ");
  const [, word = "", rest = ""] = /^(\S*)\s*([^]*)$/.exec(behind.trim()) ?? [];
  return { name, word, rest: rest.trim() };
}
