/** The tool calls of a step, the announcement before them and the report on their results. */
import type { Content, Step, StepOf } from "./step.js";

export interface Action {
  readonly tool: string;
  /** Arguments of each call; several calls run in parallel. `before` is the result of the step before. */
  args(before: string): Args[];
  /** The call is left out when the step before failed. */
  readonly needsBefore: boolean;
  /** A short sentence about a result that went well; `index` says which of the parallel calls. */
  told(text: string, index: number): string;
}

export interface Plan {
  /** Follows "I'll". */
  readonly announcement: string;
  /** Calls that run one after another. */
  readonly actions: readonly Action[];
}

/** The plan of a step; undefined for steps that only speak. */
export function planOf(step: Step): Plan | undefined {
  switch (step.do) {
    case "read": {
      const { files, limit } = step;
      const args = files.map((file) => ({ file_path: file, ...(limit !== undefined && { limit }) }));
      return plan(`read ${files.join(" and ")}`, "Read", args, (text, index) => shown(files[index] ?? "", text, "is empty"));
    }
    case "write":
      return write(step, `write ${step.file}`, "Write", `Wrote ${step.file}.`, (content) => ({ file_path: step.file, content }));
    case "append": {
      const target = quoteForShell(step.file);
      const args = (content: string) => ({ command: `printf '%s\\n' ${quoteForShell(content)} >> ${target}` });
      return write(step, `append to ${step.file}`, "Bash", `Appended to ${step.file}.`, args);
    }
    case "edit":
      return edit(step);
    case "run": {
      const code = `\`${step.command}\``;
      return plan(`run ${code}`, "Bash", [{ command: step.command }], (text) => shown(code, text, "printed nothing"));
    }
    case "grep": {
      const { pattern } = step;
      const told = (text: string) => counted(text, "match", "matches", `for '${pattern}'`);
      return plan(`search for '${pattern}'${inFolder(step)}`, "Grep", [withPath(step)], told);
    }
    case "glob": {
      const { pattern } = step;
      return plan(`look for ${pattern}${inFolder(step)}`, "Glob", [withPath(step)], (text) =>
        counted(text, "file", "files", `for ${pattern}`),
      );
    }
    case "todo": {
      const todos = step.items.map((content) => ({ content, status: "pending" }));
      const told = `The todo list has ${step.items.length} items: ${step.items.join(", ")}.`;
      return plan("write the todo list", "TodoWrite", [{ todos }], () => told);
    }
    case "fetch":
      return plan(`fetch ${step.url}`, "WebFetch", [{ url: step.url }], (text) => shown(step.url, text, "is empty"));
    case "spawn": {
      const [whom, subject] =
        step.tasks.length === 1 ? ["a sub-agent", "The sub-agent"] : [`${step.tasks.length} sub-agents`, "The sub-agents"];
      return plan(`ask ${whom}`, "Spawn", [{ tasks: step.tasks }], (text) => shown(subject, text, "said nothing"));
    }
    case "call":
      return plan(`call ${step.tool}`, step.tool, [step.args], (text) => shown(step.tool, text, "returned nothing"));
    case "say":
    case "think":
    case "stream":
    case "count":
    case "wait":
    case "fail":
    case "cut":
    case "remember":
    case "recall":
    case "greet":
    case "help":
    case "unknown":
      return undefined;
    default:
      step satisfies never;
      return undefined;
  }
}

type Args = Record<string, unknown> | string;

function plan(announcement: string, tool: string, args: Args[], told: Action["told"]): Plan {
  return { announcement, actions: [{ tool, args: () => args, needsBefore: false, told }] };
}

function write({ content }: { content: Content }, announcement: string, tool: string, told: string, args: (content: string) => Args): Plan {
  const needsBefore = typeof content !== "string";
  const action: Action = { tool, args: (before) => [args(needsBefore ? before : content)], needsBefore, told: () => told };
  return { announcement, actions: [action] };
}

/** Edit refuses a file that was not read in the session, so Read comes first. */
function edit({ file, from, to, all }: StepOf<"edit">): Plan {
  const args = { file_path: file, old_string: from, new_string: to, ...(all && { replace_all: true }) };
  return {
    announcement: `replace '${from}' with '${to}' in ${file}`,
    actions: [
      { tool: "Read", args: () => [{ file_path: file }], needsBefore: false, told: () => "" },
      { tool: "Edit", args: () => [args], needsBefore: true, told: () => `Replaced '${from}' with '${to}' in ${file}.` },
    ],
  };
}

function withPath({ pattern, path }: StepOf<"grep" | "glob">) {
  return { pattern, ...(path !== undefined && { path }) };
}

function inFolder({ path }: StepOf<"grep" | "glob">): string {
  return path === undefined ? "" : ` in ${path}`;
}

function shown(what: string, text: string, otherwise: string): string {
  return text.trim() === "" ? `${what} ${otherwise}.` : `${what}:\n${text}`;
}

function counted(text: string, one: string, many: string, what: string): string {
  const found = /^\s*(?:no |nothing|0 )/i.test(text) ? 0 : text.split("\n").filter((line) => line.trim() !== "").length;
  return found === 0 ? `0 ${many} ${what}.` : `${found} ${found === 1 ? one : many} ${what}:\n${text}`;
}

export function quoteForShell(word: string): string {
  return /^[\w./@%+=:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
