/** A hook that is a command: JSON on its standard input, its answer on its standard output, a time limit, and an end for all it started. */
import { basename, isAbsolute } from "node:path";
import { messageOf } from "../../../core/errors.js";
import type { Redactor } from "../../../core/secrets/redact.js";
import { endingOf } from "../../workspace/command-end.js";
import { capText } from "../../workspace/output.js";
import type { Workspace } from "../../workspace/workspace.js";
import type { HookEvent } from "../../../core/hooks.js";
import { toAnswer, type Hook, type HookCommand, type HookInput, type HookResult } from "./hook.js";
import { alternatives } from "../../../core/hooks.js";
import type { RuledCall } from "../../permissions/ruled-call.js";

const DEFAULT_TIMEOUT_MS = 30_000;
const LEFTOVER_GRACE_MS = 500;
/** An answer may carry the arguments of a Write; longer output is no answer. */
const ANSWER_CHARS = 1024 * 1024;
const REASON_CHARS = 2000;
/** The exit code by which a hook says no, with the reason on its standard error. */
const BLOCKS = 2;

interface HookPlace {
  workspace: Workspace;
  redactor: Redactor;
  /** Whether files of the workspace may be run. */
  isTrusted(): Promise<boolean>;
}

export function commandHook(event: HookEvent, spec: HookCommand, { workspace, redactor, isTrusted }: HookPlace): Hook {
  let match: Promise<Match | { problem: string }> | undefined;
  const compiled = (): Promise<Match | { problem: string }> => (match ??= compileMatch(spec.match));
  return {
    name: `The ${event} hook '${basename(spec.command[0] ?? "")}'`,
    /** A hook with a match that cannot be read concerns every call, and fails. */
    async concerns(call) {
      const matches = await compiled();
      return typeof matches === "function" ? matches(call) : true;
    },
    async ask(input, scope) {
      const matches = await compiled();
      if (typeof matches !== "function") return { failure: `cannot be used: ${matches.problem}` };
      try {
        if (isOfWorkspace(spec) && !(await isTrusted()))
          return { failure: "is a file of the workspace, which is not trusted ('parley trust' changes that)" };
        return await run(spec, input, { workspace, redactor }, scope.signal);
      } catch (error) {
        return { failure: `did not run: ${messageOf(error)}` };
      }
    },
  };
}

/** A relative path, in any configuration. */
function isOfWorkspace({ command: [file = ""] }: HookCommand): boolean {
  return /[\\/]/.test(file) && !isAbsolute(file);
}

type Place = Pick<HookPlace, "workspace" | "redactor">;

async function run(spec: HookCommand, input: HookInput, { workspace, redactor }: Place, signal: AbortSignal): Promise<HookResult> {
  if (signal.aborted) return { interrupted: true };
  const output = { stdout: new Bounded(ANSWER_CHARS), stderr: new Bounded(REASON_CHARS) };
  // The reason is redacted before it is cut: half a secret would not be found.
  const safe = redactor.stream();
  const timeoutMs = spec.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const running = await workspace.exec({
    argv: spec.command,
    confined: workspace.sandbox?.hasHooks === true,
    env: environmentOf(input),
    input: `${JSON.stringify(input)}\n`,
    onOutput: (channel, text) => output[channel].push(channel === "stderr" ? safe.push(text) : text),
  });
  const ending = await endingOf(running, timeoutMs, signal);
  if (ending === "interrupted") return { interrupted: true };
  if (ending === "timed out") return { failure: `did not end within ${timeoutMs} ms` };
  void running.leftover.then((isLeft) => (isLeft ? running.end(LEFTOVER_GRACE_MS) : undefined));
  output.stderr.push(safe.flush());
  const complaint = output.stderr.text.trim();
  if (ending.code === BLOCKS) return { answer: { decision: "block", reason: complaint } };
  if (ending.code === 0) return answerIn(output.stdout, redactor);
  const how = ending.code === null ? `was killed by ${ending.signal ?? "a signal"}` : `ended with exit code ${ending.code}`;
  return { failure: complaint === "" ? how : `${how}: ${capText(complaint, REASON_CHARS)}` };
}

/** Only output that begins like an object is an answer; other output is ignored. */
function answerIn({ text, cut }: Bounded, redactor: Redactor): HookResult {
  if (!text.trimStart().startsWith("{")) return { answer: {} };
  if (cut) return { failure: `gave an answer longer than ${ANSWER_CHARS} characters` };
  try {
    return toAnswer(JSON.parse(text));
  } catch {
    return { failure: `gave an answer that is not JSON: ${capText(redactor.text(text.trim()), 200)}` };
  }
}

function environmentOf({ event, session, sessionId, turn, call, cwd }: HookInput): Record<string, string> {
  return {
    PARLEY_HOOK_EVENT: event,
    PARLEY_SESSION: session,
    PARLEY_WORKSPACE: cwd,
    ...(sessionId !== undefined && { PARLEY_SESSION_ID: sessionId }),
    ...(turn !== undefined && { PARLEY_TURN: turn }),
    ...(call !== undefined && { PARLEY_TOOL: call.name }),
  };
}

/** The beginning of a stream of any length. */
class Bounded {
  text = "";
  cut = false;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  push(piece: string): void {
    const room = this.#max - this.text.length;
    if (piece.length > room) this.cut = true;
    this.text += piece.slice(0, room);
  }
}

type Match = (call: RuledCall) => Promise<boolean>;

/**
 * Compiles the calls that a hook is about: `Tool`, `Tool(pattern)`, `mcp__server__*`, a category, or several joined by `|`. They mean what
 * deny rules mean by them (rules.ts): a call that may be meant is one. Returns a sentence about a text that means nothing.
 */
async function compileMatch(text: string | undefined): Promise<Match | { problem: string }> {
  if (text === undefined) return () => Promise.resolve(true);
  try {
    const { compileRules } = await import("../../permissions/rules.js");
    const rules = await compileRules(alternatives(text).map((deny) => ({ deny })));
    return async (call) => (await rules.judge(call)).decision !== "none";
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
