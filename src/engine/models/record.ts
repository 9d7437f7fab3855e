/**
 * Records a run with a real provider as a script for the rehearsal model: the model's texts piece by piece, its calls, its
 * usage and its failures, each try by itself, redacted as for the host. Signatures and the like are not kept.
 */
import type { Redactor, RedactingStream } from "../../core/secrets/redact.js";
import type { Usage } from "../../core/event.js";
import { toFault } from "../../core/errors.js";
import type { Finish, Model, ModelCall, ModelPart, ModelRequest } from "./model.js";
import type { ScriptFile } from "./record-file.js";

export function recorded(model: Model, file: ScriptFile, redactor: Redactor): Model {
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart[]> {
    const write = file.next(`${model.provider}, ${model.id}`);
    const take = new Take(redactor);
    if (file.problem !== undefined) yield [{ type: "note", text: file.problem }];
    try {
      for await (const batch of model.stream(request, signal)) {
        for (const part of batch) take.part(part);
        yield batch;
      }
    } catch (error) {
      take.failed(error, signal.aborted);
      throw error;
    } finally {
      write(take.response());
    }
  }
  return { ...model, stream };
}

type Said = { kind: "think" | "say"; pieces: string[]; end?: true };
type Step = Said | { kind: "call"; call: Record<string, unknown> };

/** One answer as it comes. */
class Take {
  readonly #redactor: Redactor;
  readonly #steps: Step[] = [];
  readonly #notes: string[] = [];
  /** Calls whose arguments are still coming, by id. */
  readonly #coming = new Map<string, { tool: string; text: string }>();
  #open: (Said & { redact: RedactingStream }) | undefined;
  #usage: Usage | undefined;
  #finish: Finish | undefined;
  #failure: Record<string, unknown> | undefined;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  part(part: ModelPart): void {
    switch (part.type) {
      case "text":
        return this.#piece("say", part.text);
      case "thinking":
        return this.#piece("think", part.text);
      case "text.end":
      case "thinking.end":
        return this.#close();
      case "call.delta":
        return this.#delta(part.id, part.name, part.text);
      case "call":
        return this.#call(part.call);
      case "usage":
        this.#usage = part.usage;
        return;
      case "note":
        this.#notes.push(this.#redactor.text(part.text));
        return;
      case "finish":
        this.#finish = part.reason;
        return;
      default:
        part satisfies never;
    }
  }

  failed(error: unknown, aborted: boolean): void {
    if (aborted) return;
    const { code, message, retryable = false, status, retryAfter } = toFault(error);
    // A script takes 413 for an overflow by default.
    const isOwn = code !== "provider" || status === 413;
    this.#failure = this.#redactor.value({ status, message, retryAfter, retryable, ...(isOwn && { code }) });
  }

  /** The response as a script has it. An interrupted answer waits to be interrupted again. */
  response(): Record<string, unknown> {
    this.#close();
    for (const [id, { tool, text }] of this.#coming) this.#steps.push(this.#wanted({ tool, args: text, id, partial: true }));
    const isInterrupted = this.#finish === undefined && this.#failure === undefined;
    const steps = [...this.#steps.map(scripted), ...(isInterrupted ? [{ wait: "forever" }] : [])];
    return {
      ...(this.#notes.length > 0 && { notes: this.#notes }),
      ...(steps.length > 0 && { steps }),
      ...(this.#failure !== undefined && { cut: this.#failure }),
      usage: this.#usage ?? false,
      ...(this.#finish !== undefined && { finish: this.#finish }),
    };
  }

  #piece(kind: Said["kind"], text: string): void {
    if (this.#open?.kind !== kind) {
      this.#close();
      const said = { kind, pieces: [], redact: this.#redactor.stream() };
      this.#open = said;
      this.#steps.push(said);
    }
    this.#keep(this.#open.redact.push(text));
  }

  #keep(text: string): void {
    if (text !== "") this.#open?.pieces.push(text);
  }

  /** The block has ended: text of the same kind after it is a new block. */
  #close(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#keep(open.redact.flush());
    open.end = true;
    this.#open = undefined;
  }

  #delta(id: string, name: string | undefined, text: string): void {
    this.#close();
    const before = this.#coming.get(id);
    this.#coming.set(id, { tool: name ?? before?.tool ?? "", text: (before?.text ?? "") + text });
  }

  #call({ id, name, args, raw }: ModelCall): void {
    this.#close();
    this.#coming.delete(id);
    this.#steps.push(this.#wanted({ tool: name, args: raw ?? args, id }));
  }

  #wanted(call: Record<string, unknown>): Step {
    return { kind: "call", call: this.#redactor.value(call) };
  }
}

function scripted(step: Step, at: number, all: readonly Step[]): Record<string, unknown> {
  if (step.kind === "call") return { call: step.call };
  // A block ends implicitly when another kind of part follows.
  const isFollowed = all[at + 1]?.kind === step.kind;
  return { [step.kind]: { pieces: step.pieces, ...(isFollowed && step.end === true && { end: true }) } };
}
