/** The system prompt: short, and the same from turn to turn, so that vendors can cache it. */
import type { SessionConfig } from "../core/config.js";

const BASE = `You are a careful coding agent working in the user's workspace through tools.
Look before you change: read a file before you edit it. Prefer small, exact edits. Run what you changed when there is a way to.
Say briefly what you do and what came of it; when a tool call is denied, respect the reason and go on without it.`;

export function systemPrompt(config: SessionConfig, root: string, instructions: string): string {
  const base = config.system ?? `${BASE}\n\nWorkspace: ${root}\nPlatform: ${process.platform}`;
  return [base, instructions, config.appendSystem].filter((part) => part !== undefined && part !== "").join("\n\n");
}
