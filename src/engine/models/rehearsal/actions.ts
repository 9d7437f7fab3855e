/** Which tool does a step, with which arguments, how the plan is announced and how a result is told. */
import type { Content, Step } from "./step.js";
import { quoteForShell } from "./rules-files.js";

export interface Action {
  readonly tool: string;
  /** One entry a call; more than one run in parallel. `before` is what the step before brought. */
  args(before: string): (Record<string, unknown> | string)[];
  /** It makes no sense when the step before failed. */
  readonly needsBefore: boolean;
  /** A short sentence about a result that went well; `index` says which of the parallel calls. */
  told(text: string, index: number): string;
}

/** The calls of a step, in order; none for steps that only speak. */
export function actionsOf(step: Step): Action[] {
  switch (step.do) {
    case "read":
      return [
        action(
          "Read",
          () => step.files.map((file) => ({ file_path: file, ...lines(step) })),
          (text, index) => shown(step.files[index] ?? "", text, "is empty"),
        ),
      ];
    case "write":
      return [
        usingContent(
          "Write",
          step.content,
          (content) => ({ file_path: step.file, content }),
          () => `Wrote ${step.file}.`,
        ),
      ];
    case "append":
      return [
        usingContent(
          "Bash",
          step.content,
          (content) => ({ command: `printf '%s\\n' ${quoteForShell(content)} >> ${quoteForShell(step.file)}` }),
          () => `Appended to ${step.file}.`,
        ),
      ];
    case "edit":
      return editActions(step.file, step.from, step.to, step.all === true);
    case "run":
      return [
        action(
          "Bash",
          () => [
            {
              command: step.command,
              ...(step.background && { background: true }),
              ...(step.timeoutMs !== undefined && { timeout: step.timeoutMs }),
            },
          ],
          (text) => shown(`\`${step.command}\``, text, "printed nothing"),
        ),
      ];
    case "grep":
      return [
        action(
          "Grep",
          () => [grepArgs(step)],
          (text) => counted(text, "match", "matches", `for '${step.pattern}'`),
        ),
      ];
    case "glob":
      return [
        action(
          "Glob",
          () => [{ pattern: step.pattern, ...(step.path !== undefined && { path: step.path }) }],
          (text) => counted(text, "file", "files", `for ${step.pattern}`),
        ),
      ];
    case "todo":
      return [
        action(
          "TodoWrite",
          () => [{ todos: step.items.map((content) => ({ content, status: "pending" })) }],
          () => `The todo list has ${step.items.length} items: ${step.items.join(", ")}.`,
        ),
      ];
    case "fetch":
      return [
        action(
          "WebFetch",
          () => [{ url: step.url }],
          (text) => shown(step.url, text, "is empty"),
        ),
      ];
    case "spawn":
      return [
        action(
          "Spawn",
          () => [{ tasks: step.tasks }],
          (text) => shown(step.tasks.length === 1 ? "The sub-agent" : "The sub-agents", text, "said nothing"),
        ),
      ];
    case "call":
      return [
        action(
          step.tool,
          () => [step.args],
          (text) => shown(step.tool, text, "returned nothing"),
        ),
      ];
    default:
      return [];
  }
}

/** What the step will do, as it goes on after "I'll". Undefined for steps that only speak. */
export function announced(step: Step): string | undefined {
  switch (step.do) {
    case "read":
      return `read ${step.files.join(" and ")}`;
    case "write":
      return `write ${step.file}`;
    case "append":
      return `append to ${step.file}`;
    case "edit":
      return `replace '${step.from}' with '${step.to}' in ${step.file}`;
    case "run":
      return `run \`${step.command}\``;
    case "grep":
      return `search for '${step.pattern}'${step.path === undefined ? "" : ` in ${step.path}`}`;
    case "glob":
      return `look for ${step.pattern}${step.path === undefined ? "" : ` in ${step.path}`}`;
    case "todo":
      return "write the todo list";
    case "fetch":
      return `fetch ${step.url}`;
    case "spawn":
      return step.tasks.length === 1 ? "ask a sub-agent" : `ask ${step.tasks.length} sub-agents`;
    case "call":
      return `call ${step.tool}`;
    default:
      return undefined;
  }
}

function action(tool: string, args: () => (Record<string, unknown> | string)[], told: Action["told"]): Action {
  return { tool, args, needsBefore: false, told };
}

function usingContent(tool: string, content: Content, args: (text: string) => Record<string, unknown>, told: Action["told"]): Action {
  return typeof content === "string"
    ? { tool, args: () => [args(content)], needsBefore: false, told }
    : { tool, args: (before) => [args(before)], needsBefore: true, told };
}

/** Edit wants the file read in this session. */
function editActions(file: string, from: string, to: string, all: boolean): Action[] {
  const args = { file_path: file, old_string: from, new_string: to, ...(all && { replace_all: true }) };
  return [
    { tool: "Read", args: () => [{ file_path: file }], needsBefore: false, told: () => "" },
    { tool: "Edit", args: () => [args], needsBefore: true, told: () => `Replaced '${from}' with '${to}' in ${file}.` },
  ];
}

function lines({ offset, limit }: { offset?: number; limit?: number }) {
  return { ...(offset !== undefined && { offset }), ...(limit !== undefined && { limit }) };
}

function grepArgs(step: { pattern: string; path?: string; glob?: string; ignoreCase?: true }) {
  return {
    pattern: step.pattern,
    ...(step.path !== undefined && { path: step.path }),
    ...(step.glob !== undefined && { glob: step.glob }),
    ...(step.ignoreCase && { case_insensitive: true }),
  };
}

function shown(what: string, text: string, otherwise: string): string {
  return text.trim() === "" ? `${what} ${otherwise}.` : `${what}:\n${text}`;
}

function counted(text: string, one: string, many: string, what: string): string {
  const found = /^\s*(?:no |nothing|0 )/i.test(text) ? 0 : text.split("\n").filter((line) => line.trim() !== "").length;
  return found === 0 ? `0 ${many} ${what}.` : `${found} ${found === 1 ? one : many} ${what}:\n${text}`;
}
