/** The parts of a chat, put together for the terminal at hand. Only what that terminal needs is loaded. */
import type { Agent } from "../../core/agent.js";
import { Redactor } from "../../core/secrets/redact.js";
import type { Loaded } from "../../settings/settings.js";
import { knownSecrets } from "../compose/known-secrets.js";
import { Conversation } from "./conversation.js";
import { looksOf, Theme } from "./theme.js";
import { UserShell } from "./user-shell.js";
import type { ChatView } from "./view.js";

type Env = Record<string, string | undefined>;

/** The exit codes that the signals stand for. */
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

export async function openChat(agent: Agent, loaded: Loaded, env: Env): Promise<{ view: ChatView; conversation: Conversation }> {
  const view = await openView(loaded, env);
  return { view, conversation: conversationIn(view, agent, loaded, env) };
}

export async function openView(loaded: Loaded, env: Env): Promise<ChatView> {
  const view = await viewFor(loaded, env);
  for (const [signal, code] of Object.entries(SIGNALS)) process.on(signal, () => view.leave(code));
  return view;
}

export function conversationIn(view: ChatView, agent: Agent, loaded: Loaded, env: Env): Conversation {
  return new Conversation(agent, view, new UserShell(new Redactor(knownSecrets(loaded, env))));
}

async function viewFor(loaded: Loaded, env: Env): Promise<ChatView> {
  const { home, theme } = loaded.settings;
  const looks = looksOf(env);
  if (env["TERM"] === "dumb") {
    const { PlainView } = await import("./plain-view.js");
    return new PlainView({ looks, theme });
  }
  const [{ TerminalView }, { ChatTerminal }, { PromptHistory }] = await Promise.all([
    import("./terminal/terminal-view.js"),
    import("./terminal/chat-terminal.js"),
    import("./prompt-history.js"),
  ]);
  return new TerminalView(
    new ChatTerminal(looks.unicode),
    new Theme(looks, theme),
    new PromptHistory(home, new Redactor(knownSecrets(loaded, env))),
  );
}
