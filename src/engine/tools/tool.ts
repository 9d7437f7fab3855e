/** The contract of a tool, and the helper that ties a schema to its `run`. Each tool has a file of its own. */
import * as v from "valibot";
import type { Mode } from "../../core/config.js";
import type { Category } from "../../core/event.js";
import type { Part } from "../../core/content.js";
import type { Redactor } from "../../core/secrets/redact.js";
import type { WebAnswer } from "../models/model.js";
import type { SubAgent } from "../turn/sub-agents/built-in-agents.js";
import type { Trace } from "../trace/trace.js";
import type { Needs } from "../sandbox/sandbox.js";
import type { Workspace } from "../workspace/workspace.js";
import type { AgentShell } from "./shell/agent-shell.js";
import type { OutputFiles } from "./shell/output-files.js";

export interface ToolResult {
  parts: Part[];
  /** The tool ran and failed; the model sees the parts. */
  failed?: boolean;
}

/** Files that an agent has seen, by absolute path: Edit demands that a file was read and has not changed since. */
export interface SeenFiles {
  note(path: string, stamp: string): void;
  stampOf(path: string): string | undefined;
}

export interface SpawnTask {
  name: string;
  prompt: string;
  /** The kind of the sub-agent; undefined: like its parent. */
  agent?: SubAgent | undefined;
}

export interface SpawnOutcome {
  name: string;
  ok: boolean;
  text: string;
}

export interface ToolContext {
  readonly call: string;
  /** Aborted by an interrupt: end children and stop working; the result is no longer used. */
  readonly signal: AbortSignal;
  readonly workspace: Workspace;
  readonly seen: SeenFiles;
  readonly shell: AgentShell;
  /** The start folder of a command of this call; undefined: the workspace's root. */
  readonly folder?: string | undefined;
  readonly outputs: OutputFiles;
  /** The most characters of output for the model and the host. */
  readonly outputChars: number;
  /** Redact text before you cut it: half a secret would not be found. */
  readonly redactor: Redactor;
  /** The call's place in a trace, if traces are collected. */
  readonly trace?: Trace | undefined;
  /** The absolute path for an argument. Throws if the path leads elsewhere than when the call was judged. */
  locate(path: string): Promise<string>;
  /** Tells which files, by absolute path, a search must not show because of rules on these tools; undefined if there are none. */
  hiding(tools: readonly string[]): ((path: string) => boolean) | undefined;
  progress(text: string, channel?: "stdout" | "stderr"): void;
  /** Keeps a child alive after the call, until the session ends. */
  adopt(child: { end(graceMs: number): Promise<void>; exited: Promise<unknown> }): void;
  /** Ends plan mode; returns the mode that the user's yes chose. */
  leavePlan(): Mode;
  /** Searches the web with the model's vendor; rejects if the vendor has no search. */
  searchWeb(query: string): Promise<WebAnswer>;
  /** Runs sub-agents; rejects if this agent may not have any. */
  spawn(tasks: readonly SpawnTask[]): Promise<SpawnOutcome[]>;
}

/** Whether a call may run beside others: `none` touches no files; `shared` may; `exclusive` may not. */
export type Access = "none" | "shared" | "exclusive";

/** A call of another tool with a part of the same effect. */
export interface EquivalentCall {
  tool: string;
  category: Category;
  args: Record<string, unknown>;
  path?: string;
  /** Only a deny or an ask for it counts; it needs no allow. */
  onlyForbids?: true;
}

export interface Tool {
  readonly name: string;
  readonly category: Category;
  readonly access: Access;
  /** The host runs the tool, and can refuse it there. */
  readonly hosted?: true;
  /** Every call is asked about, whatever a mode, a rule or a grant allows. */
  readonly asksAlways?: true;
  /** The run ends at once at an interrupt, and so do its own calls: the run is always awaited. */
  readonly endsItself?: true;
  /** The description for the model. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  parameters(): Promise<Record<string, unknown>>;
  /** A sentence about the problem of the arguments; undefined for valid ones. */
  problem(args: Record<string, unknown>): string | undefined;
  /** The argument that has the problem, if it is one argument. */
  wrongArgument?(args: Record<string, unknown>): string | undefined;
  /** Another name by which a list may forbid the call: the whole name of a shortened one, or the server whose resources are read. */
  wholeName?(args: Record<string, unknown>): string | undefined;
  /** The tools that it replaces: it exists if all of them do. */
  readonly standsFor?: readonly string[];
  /** The calls of other tools with the same effect: rules and lists on those tools hold for it. */
  equivalents?(args: Record<string, unknown>): readonly EquivalentCall[];
  /** One line for people: "Write to src/a.ts". */
  title(args: Record<string, unknown>): string;
  /** The parts that people see before they decide; empty if there is nothing to show. */
  preview?(args: Record<string, unknown>, workspace: Workspace, redactor: Redactor): Promise<Part[]>;
  /** Paths that the call names, as given; `write` ones are kept in order. */
  paths(args: Record<string, unknown>): { path: string; write: boolean }[];
  /** The call runs in the workspace's sandbox, if it has one. */
  readonly confined?: true;
  /** The needs of the call beyond the sandbox; the paths are those that it says it will write. */
  needs?(args: Record<string, unknown>): Pick<Needs, "network" | "outside"> | undefined;
  /** Rules for calls that may run unasked after this call has run. The host is asked about this call because of them. */
  grants?(args: Record<string, unknown>): readonly string[];
  /** Runs the tool. Call it only with arguments that have no problem. An error that it throws becomes a failed result. */
  run(args: Record<string, unknown>, context: ToolContext): Promise<ToolResult>;
}

type ArgsSchema = v.GenericSchema<Record<string, unknown>>;

interface ToolDefinition<S extends ArgsSchema> {
  name: string;
  category: Category;
  access: Access;
  asksAlways?: true;
  endsItself?: true;
  confined?: true;
  description: string;
  args: S;
  wholeName?(args: Record<string, unknown>): string | undefined;
  standsFor?: readonly string[];
  equivalents?(args: v.InferOutput<S>): readonly EquivalentCall[];
  needs?(args: v.InferOutput<S>): Pick<Needs, "network" | "outside">;
  title(args: v.InferOutput<S>): string;
  preview?(args: v.InferOutput<S>, workspace: Workspace, redactor: Redactor): Promise<Part[]>;
  paths?(args: v.InferOutput<S>): { path: string; write: boolean }[];
  run(args: v.InferOutput<S>, context: ToolContext): Promise<ToolResult>;
}

export function defineTool<S extends ArgsSchema>(definition: ToolDefinition<S>): Tool {
  const { args: schema, preview, equivalents, needs, ...rest } = definition;
  let parameters: Promise<Record<string, unknown>> | undefined;
  return {
    ...rest,
    parameters: () => (parameters ??= jsonSchemaOf(schema)),
    problem(args) {
      const result = v.safeParse(schema, args);
      return result.success ? undefined : result.issues.map((issue) => issueText(issue)).join("; ");
    },
    wrongArgument(args) {
      return v
        .safeParse(schema, args)
        .issues?.[0].path?.reduce((at, { key }) => at + placeOf(key), "")
        .replace(/^\./, "");
    },
    ...(equivalents !== undefined && {
      equivalents: (args: Record<string, unknown>) => parsed(schema, args, (known) => equivalents(known), []),
    }),
    ...(needs !== undefined && { needs: (args: Record<string, unknown>) => parsed(schema, args, needs, undefined) }),
    title: (args) => parsed(schema, args, definition.title, ""),
    ...(preview !== undefined && {
      preview: (args: Record<string, unknown>, workspace: Workspace, redactor: Redactor) =>
        parsed(schema, args, (known) => preview(known, workspace, redactor), Promise.resolve([])),
    }),
    paths: (args) => (definition.paths === undefined ? [] : parsed(schema, args, definition.paths, [])),
    run: (args, context) => definition.run(v.parse(schema, args), context),
  };
}

/** `todos[0].status` */
function placeOf(key: unknown): string {
  return typeof key === "number" ? `[${key}]` : `.${String(key)}`;
}

async function jsonSchemaOf(schema: ArgsSchema): Promise<Record<string, unknown>> {
  const { toJsonSchema } = await import("@valibot/to-json-schema");
  const { $schema: _, ...parameters } = toJsonSchema(schema, { typeMode: "input", ignoreActions: ["check", "raw_check"] });
  return parameters;
}

function parsed<S extends ArgsSchema, T>(schema: S, args: Record<string, unknown>, use: (args: v.InferOutput<S>) => T, otherwise: T): T {
  const result = v.safeParse(schema, args);
  return result.success ? use(result.output) : otherwise;
}

function issueText(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  return path === null ? issue.message : `${path}: ${issue.message}`;
}

export function textResult(text: string, failed = false): ToolResult {
  return { parts: [{ type: "text", text }], ...(failed && { failed }) };
}
