/** /export: the conversation as a Markdown file. */
import { writeFile } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { plainText } from "../../../core/content.js";
import { messageOf, ParleyError, systemCode } from "../../../core/errors.js";
import { makeFolder } from "../../../os/files/folders.js";
import type { AssistantBlock, CallResult, Message } from "../../models/model.js";
import type { CommandContext } from "./builtins.js";
import { message, usageFault, type Command } from "./command.js";

export function exportCommand({ control, redactor }: Pick<CommandContext, "control" | "redactor">): Command {
  return {
    name: "export",
    description: "Writes the conversation as Markdown; never over a file that is there",
    argumentHint: "[file]",
    source: "builtin",
    async run(args) {
      if (control.messages.length === 0) throw usageFault("The conversation is empty; there is nothing to export");
      const path = await placeOf(args.trim() || defaultName());
      await writeNew(path, redactor.text(toMarkdown(control.messages)));
      return message(`The conversation is in ${path}`);
    },
  };

  function defaultName(): string {
    const id = (control.sessionId ?? "session").replace(/[^\w-]/g, "_").slice(0, 64);
    return `parley-${id}.md`;
  }

  /** A relative path stays in the workspace; only a full path may lead outside. */
  async function placeOf(name: string): Promise<string> {
    const { path, inside } = await control.session.workspace.resolve(name);
    if (!inside && !isAbsolute(name) && !name.startsWith("~/")) {
      throw usageFault(`'${name}' lies outside the workspace; give its absolute path if you want it there`);
    }
    return path;
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    makeFolder(dirname(path));
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const why = systemCode(error) === "EEXIST" ? "it is there already, and is not overwritten" : messageOf(error);
    throw new ParleyError({ code: "tool", message: `Failed to export to ${path}: ${why}`, retryable: false, param: "args" });
  }
}

function toMarkdown(messages: readonly Message[]): string {
  return `# Conversation\n\n${messages.map((said) => section(said).trim()).join("\n\n")}\n`;
}

const HEADINGS = { user: "User", summary: "Summary", note: "Note" };

function section(said: Message): string {
  switch (said.role) {
    case "user":
      return `## ${HEADINGS[said.kind ?? "user"]}\n\n${plainText(said.parts)}`;
    case "assistant":
      return `## Assistant\n\n${said.blocks.map(blockText).join("\n\n")}`;
    case "tool":
      return said.results.map(resultText).join("\n\n");
    default:
      said satisfies never;
      return "";
  }
}

function blockText(block: AssistantBlock): string {
  if (block.type === "text") return block.text;
  if (block.type === "thinking") return quoted(block.text);
  return `**${block.call.name}**\n\n${fenced(block.call.raw ?? JSON.stringify(block.call.args, undefined, 2), "json")}`;
}

function resultText({ name, parts, failed }: CallResult): string {
  return `### ${name}${failed ? " (failed)" : ""}\n\n${fenced(plainText(parts), "")}`;
}

function quoted(text: string): string {
  return text.replace(/^/gm, "> ");
}

/** A fence longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
