/** A vendor's model behind our contract: converts its package's stream. Loaded, like the package, with the first request. */
import type {
  JSONObject,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
  SharedV3Warning,
} from "@ai-sdk/provider";
import type { Usage } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import { batchesOf } from "../stand-ins/batch-readable.js";
import { factsOf, type ModelFacts } from "../facts.js";
import { askWith, settingsFor } from "./ask.js";
import { fitRequest } from "./fit-request.js";
import { httpFetch } from "../http/fetch.js";
import type { Finish, ModelCall, ModelPart, ModelRequest } from "../model.js";
import type { ModelLimits } from "../time-limits.js";
import { cutFault, finishFault, fullFault, vendorFault, type Vendor } from "./fault.js";
import { keepMeta, mergeMeta, type Origin } from "./meta.js";
import { callOptions } from "./options.js";
import type { Target } from "./prompt.js";
import type { Details, Wire } from "../wires/wire.js";

/** The `fetch` for the package. */
export type Fetch = typeof globalThis.fetch;

/** A vendor's package, and its wire. */
export interface Loaded {
  model: Pick<LanguageModelV3, "doStream">;
  wire: Wire;
  /** The model behind a name that does not tell it. */
  base?: string;
}

export interface VendorModel extends Vendor {
  id: string;
  facts: ModelFacts;
  limits: ModelLimits;
  load(fetch: Fetch): Promise<Loaded>;
}

export async function warmVendor(vendor: VendorModel): Promise<void> {
  await vendor.load(httpFetch(vendor.limits));
}

export async function* streamVendor(vendor: VendorModel, request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart[]> {
  let answering = false;
  try {
    const { stream, wire, notes } = await openStream(vendor, request, signal);
    answering = true;
    if (notes.length > 0) yield notes.map((text) => ({ type: "note", text }));
    yield* translate(stream, vendor, wire);
  } catch (error) {
    throw vendorFault(error, vendor, answering);
  }
}

export interface Opened {
  stream: ReadableStream<LanguageModelV3StreamPart>;
  wire: Wire;
  /** Settings that cannot be fulfilled. */
  notes: string[];
}

/** `change` may change the request in its final form. */
export async function openStream(
  vendor: VendorModel,
  request: ModelRequest,
  signal: AbortSignal,
  change: (options: LanguageModelV3CallOptions) => LanguageModelV3CallOptions = (options) => options,
): Promise<Opened> {
  const loaded = await vendor.load(httpFetch(vendor.limits));
  const { wire, base = vendor.id } = loaded;
  const facts = loaded.base === undefined ? vendor.facts : factsOf(loaded.base);
  const { request: fitting, notes } = fitRequest(request, { id: vendor.id, facts });
  const target = targetOf(vendor, wire);
  const settings = settingsFor(base, fitting, facts, target);
  const { stream } = await askWith(loaded, vendor, settings, (used) => change(callOptions(fitting, target, used, signal)));
  return { stream, wire, notes: [...notes, ...(settings.notes ?? [])] };
}

const targets = new WeakMap<VendorModel, Target>();

function targetOf(vendor: VendorModel, wire: Wire): Target {
  const target = targets.get(vendor) ?? { provider: vendor.provider, model: vendor.id, wire, known: new WeakMap() };
  targets.set(vendor, target);
  return target;
}

async function* translate(stream: ReadableStream<LanguageModelV3StreamPart>, vendor: VendorModel, wire: Wire): AsyncIterable<ModelPart[]> {
  const blocks = new Blocks({ provider: vendor.provider, model: vendor.id }, wire.details);
  let isFinished = false;
  for await (const batch of batchesOf(stream, (parts) => parts.some(({ type }) => type === "finish"))) {
    let failure: { error: unknown } | undefined;
    try {
      for (const part of batch) {
        take(part, blocks, vendor, wire);
        isFinished = part.type === "finish";
        if (isFinished) break;
      }
    } catch (error) {
      failure = { error };
    }
    const parts = blocks.told();
    // Parts before a failure are emitted first.
    if (parts.length > 0) yield parts;
    if (failure !== undefined) throw failure.error;
  }
  if (!isFinished) throw cutFault(vendor);
}

function take(part: LanguageModelV3StreamPart, blocks: Blocks, vendor: VendorModel, wire: Wire): void {
  switch (part.type) {
    case "stream-start":
      for (const warning of part.warnings)
        if (wire.isExpected?.(warning) !== true) blocks.tell({ type: "note", text: noteOf(warning, vendor) });
      return;
    case "text-start":
    case "reasoning-start":
      return blocks.note(part);
    case "text-delta":
    case "reasoning-delta":
      return blocks.delta(part);
    case "text-end":
    case "reasoning-end":
      return blocks.end(part);
    case "tool-input-start":
      blocks.close();
      return blocks.tell({ type: "call.delta", id: part.id, name: part.toolName, text: "" });
    case "tool-input-delta":
      return blocks.tell({ type: "call.delta", id: part.id, text: part.delta });
    case "tool-call":
      blocks.close();
      return blocks.call(toCall(part.toolCallId, part.toolName, part.input), part.providerMetadata);
    case "raw":
      blocks.read(part.rawValue);
      blocks.refuse(wire.refusalIn?.(part.rawValue) ?? "");
      return blocks.tellUsage(wire.usageSoFar?.(part.rawValue));
    case "finish":
      return finish(part, blocks, vendor, wire);
    case "error":
      if (wire.isHarmless?.(part.error) === true) return;
      throw part.error;
    default:
    // Sources and vendor-run tools are asked for by web-search.ts alone.
  }
}

/** A warning of the package: part of the request was left out or changed. */
function noteOf(warning: SharedV3Warning, { provider, id }: VendorModel): string {
  if (warning.type === "other") return `${provider}, ${id}: ${warning.message}`;
  const what = warning.type === "unsupported" ? "is not supported and was left out" : "is supported only in part";
  return `${provider}, ${id}: ${warning.feature} ${what}${warning.details === undefined ? "" : ` (${warning.details})`}`;
}

// --- text and thinking ---

type Piece = Extract<LanguageModelV3StreamPart, { type: `${"text" | "reasoning"}-${"start" | "delta" | "end"}` }>;

/** The id of the block with a refusal: no package has one. */
const REFUSAL = "refusal";

/** The parts of an answer, in order. Vendors put signatures on different parts: the data of every part are kept with its block. */
class Blocks {
  isRefusal = false;
  readonly #origin: Origin;
  readonly #metas = new Map<string, SharedV3ProviderMetadata>();
  /** Open blocks of which something was emitted, with their kinds. */
  readonly #shown = new Map<string, "text" | "thinking">();
  /** Thinking of which nothing was emitted. It waits for other output, as the request can be retried until then. */
  #hidden: ModelPart[] = [];
  readonly #details: Details | undefined;
  /** Details that no block has taken yet. */
  #loose: JSONObject[] = [];
  /** With details, calls wait for the last of them; they do not run before the end anyway. */
  #calls: { call: ModelCall; meta: SharedV3ProviderMetadata | undefined }[] = [];
  #told: ModelPart[] = [];

  constructor(origin: Origin, details: Details | undefined) {
    this.#origin = origin;
    this.#details = details;
  }

  tell(part: ModelPart): void {
    this.#told.push(part);
  }

  tellUsage(usage: Usage | undefined): void {
    if (usage !== undefined) this.tell({ type: "usage", usage });
  }

  /** The parts since the last call. */
  told(): ModelPart[] {
    const told = this.#told;
    this.#told = [];
    return told;
  }

  read(raw: unknown): void {
    if (this.#details !== undefined) this.#loose.push(...this.#details.read(raw));
  }

  note({ id, providerMetadata }: Piece): void {
    if (providerMetadata === undefined) return;
    const meta = mergeMeta(this.#metas.get(id), providerMetadata);
    if (meta !== undefined) this.#metas.set(id, meta);
  }

  delta(part: Extract<Piece, { delta: string }>): void {
    this.note(part);
    if (part.delta === "") return;
    const type = part.type === "text-delta" ? "text" : "thinking";
    this.#shown.set(part.id, type);
    this.release();
    this.tell({ type, text: part.delta });
  }

  end(part: Piece): void {
    this.note(part);
    if (this.#shown.has(part.id)) return this.#closeOne(part.id);
    const meta = this.#withDetails(this.#metas.get(part.id));
    this.#metas.delete(part.id);
    if (part.type === "reasoning-end" && meta !== undefined)
      this.#hidden.push({ type: "thinking.end", meta: keepMeta(this.#origin, meta) });
  }

  /** Before a call: some packages end a block only with the answer, and its data belong before the call. */
  close(): void {
    for (const id of this.#shown.keys()) this.#closeOne(id);
    this.release();
  }

  #closeOne(id: string): void {
    const meta = this.#withDetails(this.#metas.get(id));
    const kind = this.#shown.get(id);
    this.#metas.delete(id);
    this.#shown.delete(id);
    if (kind === "thinking") this.tell({ type: "thinking.end", meta: keepMeta(this.#origin, meta) });
    else this.tell({ type: "text.end", ...this.#metaOf(meta) });
  }

  call(call: ModelCall, meta: SharedV3ProviderMetadata | undefined): void {
    if (this.#details !== undefined) this.#calls.push({ call, meta });
    else this.tell({ type: "call", call, ...this.#metaOf(meta) });
  }

  releaseCalls(): void {
    for (const { call, meta } of this.#calls.splice(0)) this.tell({ type: "call", call, ...this.#metaOf(this.#withDetails(meta)) });
  }

  /** A refusal is shown as text, in a block of its own. */
  refuse(words: string): void {
    if (words === "") return;
    if (!this.#shown.has(REFUSAL)) this.close();
    this.isRefusal = true;
    this.delta({ type: "text-delta", id: REFUSAL, delta: words });
  }

  release(): void {
    if (this.#hidden.length === 0) return;
    this.#told.push(...this.#hidden);
    this.#hidden = [];
  }

  #withDetails(meta: SharedV3ProviderMetadata | undefined): SharedV3ProviderMetadata | undefined {
    return this.#loose.length === 0 ? meta : mergeMeta(meta, this.#details?.keep(this.#loose.splice(0)));
  }

  #metaOf(meta: SharedV3ProviderMetadata | undefined): { meta?: unknown } {
    return meta === undefined ? {} : { meta: keepMeta(this.#origin, meta) };
  }
}

// --- calls ---

function toCall(id: string, name: string, input: string): ModelCall {
  try {
    const args: unknown = input.trim() === "" ? {} : JSON.parse(input);
    if (isRecord(args)) return { id, name, args: { ...args } };
  } catch {
    // `raw` reports it.
  }
  return { id, name, args: {}, raw: input };
}

// --- the end ---

/** Undefined if the server counts nothing. */
export function totalUsage({ inputTokens, outputTokens }: LanguageModelV3Usage): Usage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  const cacheRead = inputTokens.cacheRead ?? 0;
  const cacheWrite = inputTokens.cacheWrite ?? 0;
  const reasoning = outputTokens.reasoning ?? 0;
  return {
    input: Math.max(0, inputTokens.noCache ?? (inputTokens.total ?? 0) - cacheRead - cacheWrite),
    output: Math.max(0, outputTokens.text ?? (outputTokens.total ?? 0) - reasoning),
    cacheRead,
    cacheWrite,
    reasoning,
  };
}

function finish(
  { finishReason, usage }: Extract<LanguageModelV3StreamPart, { type: "finish" }>,
  blocks: Blocks,
  vendor: VendorModel,
  wire: Wire,
): void {
  const { raw } = finishReason;
  if (isCut(finishReason)) throw cutFault(vendor);
  if (raw !== undefined && FULL.has(raw)) throw fullFault(vendor, raw);
  blocks.tellUsage(totalUsage(usage));
  const failure = raw === undefined ? undefined : wire.failedFinish?.(raw);
  if (failure !== undefined) throw finishFault(vendor, failure);
  if (blocks.isRefusal) blocks.close();
  blocks.release();
  blocks.releaseCalls();
  const reason = blocks.isRefusal ? "refusal" : toFinish(finishReason);
  if (reason === "content_filter") blocks.tell({ type: "note", text: `${vendor.provider} held its answer back (${raw})` });
  blocks.tell({ type: "finish", reason });
}

/** The packages invent a finish for a stream that just ends. */
function isCut({ unified, raw }: LanguageModelV3FinishReason): boolean {
  return unified === "other" && raw === undefined;
}

/** The model's own refusal; other reasons are those of a filter. */
const REFUSED: ReadonlySet<string | undefined> = new Set([undefined, "stop", "refusal"]);

/** The window was full before the answer was complete: the conversation must shrink. */
const FULL: ReadonlySet<string> = new Set(["model_context_window_exceeded"]);

function toFinish({ unified, raw }: LanguageModelV3FinishReason): Finish {
  if (raw === "pause_turn") return "pause";
  switch (unified) {
    case "stop":
    case "length":
      return unified;
    case "tool-calls":
      return "tool_calls";
    case "content-filter":
      return REFUSED.has(raw) ? "refusal" : "content_filter";
    default:
      return "other";
  }
}
