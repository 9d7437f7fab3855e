/**
 * Files that decide which programs run or which calls are allowed, or that contain secrets: no edit or command may reach them without a yes.
 * They are found by name, existing or not, in nested folders and repositories too, and in any case of letters, since some file systems ignore
 * case.
 */
import { wildcard, type Wildcard } from "./wildcard.js";

interface ProtectedGroup {
  /** The reason in a question, after the path. */
  why: string;
  /**
   * Asked about in every mode, even if rules and grants allow the call, and also for commands that name the path. Otherwise only if edits run
   * unasked.
   */
  always?: true;
  /** Reading counts, too. */
  reads?: true;
  /** At any depth, unless it begins with `/`. `*` is any text in a name. A pattern with a final `/` is a folder with all its content. */
  paths: readonly string[];
}

const GOVERNS = "decides what is run or allowed";

/** PARLEY_HOME is in the first group wherever it lies (protection.ts). */
export const PROTECTED: readonly ProtectedGroup[] = [
  { why: GOVERNS, always: true, paths: [".parley/config.yaml"] },
  {
    why: "may show secrets that a process was given",
    always: true,
    reads: true,
    paths: [
      "/proc/*/environ",
      "/proc/*/cmdline",
      "/proc/*/mem",
      "/proc/*/auxv",
      "/proc/*/task/*/environ",
      "/proc/*/task/*/cmdline",
      "/proc/*/task/*/mem",
      "/proc/*/task/*/auxv",
    ],
  },
  {
    why: GOVERNS,
    paths: [
      // Version control, and programs that it runs.
      ".git/",
      ".gitconfig",
      ".config/git/",
      ".githooks/",
      ".husky/",
      ".github/workflows/",
      ".gitlab-ci.yml",
      // Agents: their settings and their instructions.
      ".parley/",
      ".agents/",
      ".aionrs/",
      ".ante/",
      ".claude/",
      ".clinerules",
      ".codex/",
      ".config/opencode/",
      ".continue/",
      ".cursor/",
      ".cursorrules",
      ".gemini/",
      ".goose/",
      ".kiro/",
      ".opencode/",
      ".qwen/",
      ".roo/",
      ".windsurf/",
      ".mcp.json",
      "AGENTS.md",
      "CLAUDE.md",
      // Editors and package managers run what these say.
      ".idea/",
      ".vscode/",
      ".npmrc",
      "node_modules/.bin/",
      // Files that a shell reads when it starts, and folders of programs and keys.
      ".env*",
      ".ssh/",
      ".local/bin/",
      ".config/fish/",
      ".bashrc",
      ".bash_aliases",
      ".bash_login",
      ".bash_logout",
      ".bash_profile",
      ".profile",
      ".login",
      ".cshrc",
      ".kshrc",
      ".tcshrc",
      ".zlogin",
      ".zprofile",
      ".zshenv",
      ".zshrc",
      "profile.ps1",
      "Microsoft.PowerShell_profile.ps1",
    ],
  },
];

export interface PathPattern {
  steps: readonly { text: string; name: Wildcard }[];
  isRooted: boolean;
  isFolder: boolean;
}

export function pathPattern(text: string): PathPattern {
  const steps = stepsOf(text).map((step) => ({ text: step, name: wildcard(step) }));
  return { steps, isRooted: /^[\\/]|^[A-Za-z]:/.test(text), isFolder: /[\\/]$/.test(text) };
}

/** `near`: a folder on the way to a protected path. */
export type Reach = "hit" | "near" | "no";

/** Compares a path with a pattern. The path may contain `*` for a part that is known only at the run. */
export function reach(path: string | readonly string[], pattern: PathPattern): Reach {
  const steps = typeof path === "string" ? stepsOf(path) : path;
  if (pattern.isRooted) return reachFrom(steps, pattern);
  const found = steps.map((_, start) => reachFrom(steps.slice(start), pattern));
  return found.includes("hit") ? "hit" : found.includes("near") ? "near" : "no";
}

function reachFrom(path: readonly string[], { steps, isRooted, isFolder }: PathPattern): Reach {
  for (const [at, step] of steps.entries()) {
    const name = path[at];
    if (name === undefined) return isRooted || at > 0 ? "near" : "no";
    if (name === "**" && (isRooted || at > 0)) return "hit";
    if (!meets(name, step)) return "no";
  }
  return isFolder || path.length === steps.length ? "hit" : "no";
}

/** A leading `*` does not match a dot, as in shells. */
function meets(name: string, { text, name: step }: PathPattern["steps"][number]): boolean {
  if (!name.includes("*")) return step.matches(name);
  if (name.startsWith("*") && text.startsWith(".")) return false;
  return text.includes("*") || wildcard(name).matches(text);
}

/** The names of a path, to compare it with several patterns. */
export function stepsOf(path: string): string[] {
  return path
    .toLowerCase()
    .split(/[\\/]/)
    .filter((step) => step !== "" && step !== ".");
}
