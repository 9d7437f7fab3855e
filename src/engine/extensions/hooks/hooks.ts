/**
 * The hooks of a session. The hooks of an event are asked in order, the config's first and then the host's. A
 * hook can block, change arguments before they are judged, or add words for the model; nothing is allowed by one.
 */
import { plainText, type Part } from "../../../core/content.js";
import { messageOf, ParleyError } from "../../../core/errors.js";
import type { EventOf } from "../../../core/event.js";
import { HOOK_EVENTS, HOST_EVENTS, type HookEvent } from "../../../core/hooks.js";
import type { Redactor } from "../../../core/secrets/redact.js";
import type { JudgedCall } from "../../permissions/permissions.js";
import { capText } from "../../workspace/output.js";
import type { SessionControl } from "../../session/control.js";
import { commandHook } from "./command-hook.js";
import type { Hook, HookCommands, HookInput, HookScope, HookResult } from "./hook.js";
import { hostHook } from "./host-hook.js";

/** The most that one hook may add for the model, or give as its reason. */
const WORDS_CHARS = 10_000;
/** A session's end waits no longer for all of its hooks. */
const END_MS = 5000;

export interface HooksDeps {
  commands: Partial<HookCommands>;
  trusts(root: string): Promise<boolean>;
  control: SessionControl;
  redactor: Redactor;
}

interface HookedCall {
  id: string;
  name: string;
}

/** The call as it is to be judged; `changed` by a hook, or not. */
type BeforeTool = { judged: JudgedCall; changed: boolean } | { blocked: string };

export class Hooks {
  readonly #deps: HooksDeps;
  readonly #commands: ReadonlyMap<string, readonly Hook[]>;
  readonly #warned = new Set<string>();
  readonly #closing = new AbortController();
  #opened: Promise<string> = Promise.resolve("");
  /** The host's session_start hook has been asked. */
  #hostKnows = false;

  constructor(deps: HooksDeps) {
    this.#deps = deps;
    const { workspace } = deps.control.session;
    const place = { workspace, redactor: deps.redactor, isTrusted: () => deps.trusts(workspace.root) };
    this.#commands = new Map(
      HOOK_EVENTS.map((event) => [event, (deps.commands[event] ?? []).map((spec) => commandHook(event, spec, place))]),
    );
  }

  /** Whether there is any hook now; a host may bring its hooks at any time. */
  get any(): boolean {
    return HOOK_EVENTS.some((event) => this.#of(event).length > 0);
  }

  /** Asks the session_start hooks. Only callers of `opened` wait for them. */
  start(): void {
    this.#opened = this.#tellTo(this.#commands.get("session_start") ?? [], "session_start", {}, this.#own());
    this.configured();
  }

  /** Asks a session_start hook of the host once, as soon as the host has brought it. */
  configured(): void {
    const { hostHooks = {} } = this.#deps.control.config();
    for (const event of Object.keys(hostHooks)) {
      if (!HOST_EVENTS.some((known) => known === event))
        this.#warn(`The host's hook for '${event}' is never asked; it can have hooks for ${HOST_EVENTS.join(", ")}`, this.#own());
    }
    const hook = this.#hostKnows ? undefined : this.#hostHook("session_start");
    if (hook === undefined) return;
    this.#hostKnows = true;
    this.#opened = this.#opened.then(async (words) => joined([words, await this.#tellTo([hook], "session_start", {}, this.#own())]));
  }

  /** The words of the session_start hooks for the model. */
  opened(): Promise<string> {
    return this.#opened;
  }

  /** `rejudge` throws what is wrong with changed arguments. */
  async beforeTool(
    call: HookedCall,
    first: JudgedCall,
    rejudge: (args: Record<string, unknown>) => Promise<JudgedCall>,
    scope: HookScope,
  ): Promise<BeforeTool> {
    let judged = first;
    for (const hook of this.#of("pre_tool_use")) {
      if (!(await hook.concerns(judged))) continue;
      const said = await hook.ask(this.#input("pre_tool_use", scope, { call: describe(call, judged) }), scope);
      if ("interrupted" in said) break;
      const blocked = this.#blocked(hook, said);
      if (blocked !== undefined) return { blocked };
      const args = "answer" in said ? said.answer.args : undefined;
      if (args === undefined) continue;
      try {
        judged = await rejudge(args);
      } catch (error) {
        return { blocked: `${hook.name} changed the arguments to invalid ones: ${messageOf(error)}` };
      }
    }
    return { judged, changed: judged !== first };
  }

  /** Words for the model about a call that ran. A hook cannot undo it, so the reason of one that blocks is told like its context. */
  async afterTool(call: HookedCall, judged: JudgedCall, ended: EndedCall, scope: HookScope): Promise<string> {
    const output = capText(plainText(ended.parts), this.#deps.control.session.outputChars);
    return this.tell("post_tool_use", { call: describe(call, judged), output, status: ended.status }, scope, judged);
  }

  /** Throws a `hook` fault when one blocks; else what they add to the prompt. */
  async beforePrompt(parts: readonly Part[], scope: HookScope): Promise<string> {
    const context: string[] = [];
    for (const hook of this.#of("prompt")) {
      const said = await hook.ask(this.#input("prompt", scope, { prompt: plainText(parts) }), scope);
      if ("interrupted" in said) break;
      const blocked = this.#blocked(hook, said);
      if (blocked !== undefined) throw new ParleyError({ code: "hook", message: blocked, retryable: false });
      if ("answer" in said) context.push(this.#words(said.answer.context));
    }
    return joined(context);
  }

  /** Why the turn shall not end yet, if it shall not. */
  async atStop(output: string, scope: HookScope): Promise<string | undefined> {
    for (const hook of this.#of("stop")) {
      const said = await hook.ask(this.#input("stop", scope, { output, outcome: "completed" }), scope);
      if ("interrupted" in said) break;
      if ("failure" in said) this.#warn(`${hook.name} ${said.failure}`, scope);
      else if (said.answer.decision === "block") return this.#reason(hook, said.answer.reason);
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opened;
    const signal = AbortSignal.timeout(END_MS);
    await this.tell("session_end", {}, { emit: this.#deps.control.emit, signal });
    if (signal.aborted) this.#warn(`A session_end hook had not ended after ${END_MS} ms and was ended`, this.#own());
  }

  /** Asks the hooks of a point where they can only add words for the model; a failure is a warning. */
  tell(event: HookEvent, about: Partial<HookInput>, scope: HookScope, judged?: JudgedCall): Promise<string> {
    return this.#tellTo(this.#of(event), event, about, scope, judged);
  }

  async #tellTo(
    hooks: readonly Hook[],
    event: HookEvent,
    about: Partial<HookInput>,
    scope: HookScope,
    judged?: JudgedCall,
  ): Promise<string> {
    const words: string[] = [];
    for (const hook of hooks) {
      if (judged !== undefined && !(await hook.concerns(judged))) continue;
      const said = await hook.ask(this.#input(event, scope, about), scope);
      if ("interrupted" in said) break;
      if ("failure" in said) {
        this.#warn(`${hook.name} ${said.failure}`, scope);
        continue;
      }
      if (said.answer.decision === "block") {
        const reason = this.#reason(hook, said.answer.reason);
        if (event === "post_tool_use") words.push(reason);
        else this.#warn(`${hook.name} cannot block anything; it said: ${reason}`, scope);
      }
      words.push(this.#words(said.answer.context));
    }
    return joined(words);
  }

  #of(event: HookEvent): readonly Hook[] {
    const own = this.#commands.get(event) ?? [];
    const ofHost = this.#hostHook(event);
    return ofHost === undefined ? own : [...own, ofHost];
  }

  #hostHook(event: HookEvent): Hook | undefined {
    const { control } = this.#deps;
    const callback = HOST_EVENTS.includes(event) ? control.config().hostHooks?.[event] : undefined;
    return callback === undefined ? undefined : hostHook(event, callback, control.session);
  }

  #blocked(hook: Hook, said: HookResult): string | undefined {
    if ("failure" in said) return `${hook.name} ${said.failure}. A guard that fails blocks.`;
    return "answer" in said && said.answer.decision === "block" ? this.#reason(hook, said.answer.reason) : undefined;
  }

  #reason(hook: Hook, reason = ""): string {
    return this.#words(reason) || `${hook.name} gave no reason`;
  }

  /** The text is redacted before it is cut: half a secret would not be found. */
  #words(text = ""): string {
    return capText(this.#deps.redactor.text(text.trim()), WORDS_CHARS);
  }

  /** Warns once: a hook that fails for every call would say nothing new. */
  #warn(text: string, { emit }: HookScope): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    void emit({ type: "notice", level: "warning", kind: "hook", text });
  }

  #own(): HookScope {
    return { emit: this.#deps.control.emit, signal: this.#closing.signal };
  }

  #input(event: HookEvent, { id: turn }: HookScope, about: Partial<HookInput>): HookInput {
    const { handle, sessionId, session } = this.#deps.control;
    return {
      event,
      session: handle,
      ...(sessionId !== undefined && { sessionId }),
      cwd: session.workspace.root,
      ...(turn !== undefined && { turn }),
      ...about,
    };
  }
}

interface EndedCall {
  status: EventOf<"tool.ended">["status"];
  parts: Part[];
}

function describe({ id, name }: HookedCall, { args, category }: JudgedCall): NonNullable<HookInput["call"]> {
  return { id, name, args, category };
}

function joined(words: readonly string[]): string {
  return words.filter((text) => text !== "").join("\n\n");
}
