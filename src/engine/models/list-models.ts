/** Asks a provider which models it has. The lists of all vendors are read alike: each says some of the facts, under names of its own. */
import * as v from "valibot";
import { ParleyError } from "../../core/errors.js";
import { Redactor } from "../../core/secrets/redact.js";
import { proxiedFetch } from "../../os/proxy/proxied-fetch.js";
import { accessTo, configFault, type ModelSource } from "./access.js";
import type { KnownFacts } from "./facts.js";
import { providerOf } from "./providers/index.js";
import { vendorFault } from "./vendor/fault.js";

export interface ListedModel {
  id: string;
  facts: KnownFacts;
}

const WAIT_MS = 15_000;
const MOST_BYTES = 16 * 2 ** 20;

const count = v.optional(v.nullable(v.number()));
const support = v.optional(v.looseObject({ supported: v.boolean() }));
const Entry = v.looseObject({
  id: v.optional(v.string()),
  /** Gemini's name, which begins with `models/`. */
  name: v.optional(v.string()),
  context_length: count,
  max_input_tokens: count,
  max_tokens: count,
  inputTokenLimit: count,
  outputTokenLimit: count,
  supportedGenerationMethods: v.optional(v.array(v.string())),
  top_provider: v.optional(v.nullable(v.looseObject({ max_completion_tokens: count }))),
  architecture: v.optional(v.nullable(v.looseObject({ input_modalities: v.optional(v.array(v.string())) }))),
  capabilities: v.optional(v.nullable(v.looseObject({ thinking: support, image_input: support }))),
  supported_parameters: v.optional(v.nullable(v.array(v.string()))),
  meta: v.optional(v.nullable(v.looseObject({ n_ctx: count, n_ctx_train: count }))),
});
type Entry = v.InferOutput<typeof Entry>;
const Listed = v.union([v.looseObject({ data: v.array(Entry) }), v.looseObject({ models: v.array(Entry) })]);

/** Undefined where the provider has no list. Throws where it cannot be asked. */
export async function listModels(provider: string, source: ModelSource): Promise<ListedModel[] | undefined> {
  const code = providerOf(source.providers[provider]?.kind ?? provider);
  if (code?.models === undefined) return undefined;
  const access = accessTo(provider, {}, undefined, source);
  const { url, headers } = code.models(access);
  const vendor = { provider, secrets: access.secrets, ...(access.keyName !== undefined && { keyName: access.keyName }) };
  const body = await answer(url, { ...headers, ...access.headers }).catch((error: unknown) => {
    throw vendorFault(error, vendor, false);
  });
  const listed = v.safeParse(v.pipe(v.string(), v.parseJson(), Listed), body);
  if (!listed.success)
    throw configFault(`What ${provider} sent is no list of models: ${new Redactor(access.secrets).text(body.slice(0, 100))}`);
  const entries = "data" in listed.output ? listed.output.data : listed.output.models;
  return v.parse(v.array(Entry), entries).flatMap((entry) => modelOf(entry));
}

async function answer(url: string, headers: Record<string, string>): Promise<string> {
  const response = await proxiedFetch(url, { headers, signal: AbortSignal.timeout(WAIT_MS) });
  const body = await response.text();
  if (body.length > MOST_BYTES) throw new ParleyError({ code: "provider", message: `The list at ${url} is too long`, retryable: false });
  if (response.ok) return body;
  throw Object.assign(new Error(response.statusText || "refused"), { statusCode: response.status, responseBody: body });
}

/** None for what answers no prompts. */
function modelOf(entry: Entry): ListedModel[] {
  const id = entry.id ?? entry.name?.replace(/^models\//, "");
  if (id === undefined || entry.supportedGenerationMethods?.includes("generateContent") === false) return [];
  const { architecture, supported_parameters: parameters, capabilities, meta } = entry;
  const context = entry.context_length ?? entry.max_input_tokens ?? entry.inputTokenLimit ?? meta?.n_ctx ?? meta?.n_ctx_train;
  const output =
    entry.outputTokenLimit ?? entry.top_provider?.max_completion_tokens ?? (entry.max_input_tokens == null ? undefined : entry.max_tokens);
  const facts: KnownFacts = {
    ...(context != null && { context }),
    ...(output != null && { output }),
    ...(architecture?.input_modalities !== undefined && { images: architecture.input_modalities.includes("image") }),
    ...(parameters != null && { thinking: parameters.includes("reasoning") }),
    ...(capabilities?.image_input !== undefined && { images: capabilities.image_input.supported }),
    ...(capabilities?.thinking !== undefined && { thinking: capabilities.thinking.supported }),
  };
  return [{ id, facts }];
}
