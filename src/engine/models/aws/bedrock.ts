/** Bedrock's package: Claude by Anthropic's own messages (InvokeModelWithResponseStream), other models by ConverseStream. */
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { AmazonBedrockProviderSettings } from "@ai-sdk/amazon-bedrock";
import type { Access } from "../access.js";
import type { Fetch, Loaded } from "../vendor/vendor.js";
import type { Wire } from "../wires/wire.js";
import { jsonFetch } from "../http/fetch.js";
import { awsSource, type AwsSource } from "./credentials.js";
import { awsRegion, readProfile } from "./profile.js";

export async function loadBedrock(access: Access, fetch: Fetch): Promise<Loaded> {
  const { id, address, headers, env } = access;
  const region = awsRegion(env, await readProfile(env));
  const source = awsSource(access, region);
  const settings = { region, baseURL: address ?? endpoint(region), ...(headers !== undefined && { headers }), fetch };
  const base = await baseOf(access, region, source);
  const { open, wire } = isClaude(base ?? id) ? await loadClaude(id) : await loadConverse(id, base ?? id);
  const named = { wire, ...(base !== undefined && { base }) };
  if ("bearer" in source) return { model: open({ ...settings, apiKey: source.bearer }), ...named };
  return {
    ...named,
    model: {
      async doStream(options) {
        // Each request is signed with the present credentials. An empty key keeps the package from looking for one.
        const credentials = await unlessAborted(source.sign(), options.abortSignal);
        return open({ ...settings, apiKey: "", credentialProvider: async () => credentials }).doStream(options);
      },
    },
  };
}

/** The model behind a profile of the user; undefined if the name has it, or if it is unknown. */
async function baseOf({ id, env }: Access, region: string, source: AwsSource): Promise<string | undefined> {
  const { isProfile, modelBehind } = await import("./inference-profile.js");
  if (!isProfile(id) || isClaude(id)) return undefined;
  return modelBehind(id, region, env["AWS_ENDPOINT_URL_BEDROCK"] || endpoint(region, "bedrock"), source, jsonFetch);
}

/** Some sources wait for a person or a network; an interrupt does not. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal = new AbortController().signal): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new DOMException("The request was aborted", "AbortError"));
  });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

interface Family {
  open(settings: AmazonBedrockProviderSettings): LanguageModelV3;
  wire: Wire;
}

async function loadClaude(id: string): Promise<Family> {
  const [{ createBedrockAnthropic }, { anthropicBedrockWire }] = await Promise.all([
    import("@ai-sdk/amazon-bedrock/anthropic"),
    import("../wires/anthropic-bedrock.js"),
  ]);
  return { open: (settings) => createBedrockAnthropic(settings)(id), wire: anthropicBedrockWire };
}

async function loadConverse(id: string, base: string): Promise<Family> {
  const [{ createAmazonBedrock }, { converseWire }] = await Promise.all([import("@ai-sdk/amazon-bedrock"), import("../wires/converse.js")]);
  return { open: (settings) => createAmazonBedrock(settings)(id), wire: converseWire(base) };
}

/** Converse takes every model, so a model that may not be Claude goes there. */
function isClaude(id: string): boolean {
  return id.includes("anthropic.claude");
}

/** Most regions are in the first partition; the others have domains of their own. */
const DOMAINS: readonly [prefix: string, domain: string][] = [
  ["cn-", "amazonaws.com.cn"],
  ["us-iso-", "c2s.ic.gov"],
  ["us-isob-", "sc2s.sgov.gov"],
  ["eu-isoe-", "cloud.adc-e.uk"],
  ["us-isof-", "csp.hci.ic.gov"],
  ["eusc-", "amazonaws.eu"],
];

function endpoint(region: string, service = "bedrock-runtime"): string {
  const domain = DOMAINS.find(([prefix]) => region.startsWith(prefix))?.[1] ?? "amazonaws.com";
  return `https://${service}.${region}.${domain}`;
}
