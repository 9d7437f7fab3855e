/** The system prompt: short, and the same from turn to turn, so that vendors can cache it. */
import type { SessionConfig } from "../../core/config.js";
import type { Workspace } from "../workspace/workspace.js";

const BASE = `You are a careful coding agent working in the user's workspace through tools.
Look before you change: read a file before you edit it. Prefer small, exact edits. Run what you changed when there is a way to.
Say briefly what you do and what came of it; when a tool call is denied, respect the reason and go on without it.`;

type Folders = Pick<Workspace, "root" | "directories">;

export function systemPrompt(config: SessionConfig, { root, directories }: Folders, instructions: string): string {
  const base = config.system ?? `${BASE}\n\nWorkspace: ${root}\nPlatform: ${process.platform}`;
  const further = directories.length === 0 ? undefined : `These folders belong to the workspace, too:\n${directories.join("\n")}`;
  return [base, further, instructions, config.appendSystem].filter((part) => part !== undefined && part !== "").join("\n\n");
}
