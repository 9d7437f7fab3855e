/**
 * Files that decide which programs run or which calls are allowed, or that show secrets: an edit or a command without a yes must not reach
 * them. By name, there or not, in nested folders and repositories too, and in any case of letters, since some file systems do not tell them
 * apart.
 */
import { wildcard, type Wildcard } from "./wildcard.js";

interface ProtectedGroup {
  /** Behind a path: a question's reason. */
  why: string;
  /**
   * Asked about in every mode, also where rules and grants allow it, and for commands that name the path; else only where edits run
   * unasked.
   */
  always?: true;
  /** Reading counts, too. */
  reads?: true;
  /** At any depth, unless it begins with `/`. `*` is any text in a name. A pattern that ends with `/` is a folder and all that is in it. */
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

/** `near`: a folder on the way to it. */
export type Reach = "hit" | "near" | "no";

/** Compares a path with a pattern. The path may hold `*` for a part that is only known when it is used. */
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

/** A leading `*` stands for no dot, as in shells. */
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
