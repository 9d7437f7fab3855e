/** The type of a named sub-agent, and the two that are always there. */

export interface SubAgent {
  name: string;
  description: string;
  /** The only tools of its parent that it keeps; all of them when absent. */
  tools?: readonly string[];
  /** The name of its model; its parent's when absent. */
  model?: string;
  /** It is defined in a workspace that is not trusted: its model must be one of the session's own provider. */
  untrusted?: true;
  /** Replaces the beginning of its parent's system prompt. */
  system?: string;
}

export const BUILT_IN_AGENTS: readonly SubAgent[] = [
  { name: "general", description: "For any task that takes several steps; it has the same tools." },
  {
    name: "explore",
    description: "Finds things out about the workspace and reports; it can only read and search.",
    tools: ["Read", "Glob", "Grep"],
    system:
      "You explore a workspace for another agent. You can read and search, and change nothing. Look in the likely places first, follow what " +
      "you find, and stop when the question is answered. Report the facts with file paths and line numbers, and say what you did not find.",
  },
];
