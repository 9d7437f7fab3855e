/**
 * The data that a vendor wants back with a block (signatures, encrypted reasoning), with its vendor and model. Another vendor, and usually another model
 * of the same one, would refuse it, so it goes back only to its origin.
 */
import type { SharedV3ProviderMetadata } from "@ai-sdk/provider";
import * as v from "valibot";
import { isRecord } from "../../../core/values/json-object.js";

export interface Origin {
  provider: string;
  model: string;
}

const Kept = v.looseObject({
  provider: v.string(),
  model: v.string(),
  data: v.custom<SharedV3ProviderMetadata>(isMetadata),
});

/** The `meta` of a block. `data` is empty if the vendor marks nothing; the block's origin is still known. */
export function keepMeta(origin: Origin, data: SharedV3ProviderMetadata = {}): unknown {
  return { provider: origin.provider, model: origin.model, data };
}

/** The data from this vendor and model; undefined if the block is not theirs. */
export function ownMeta(meta: unknown, origin: Origin): SharedV3ProviderMetadata | undefined {
  if (!v.is(Kept, meta)) return undefined;
  return meta.provider === origin.provider && meta.model === origin.model ? meta.data : undefined;
}

/** Both merged, the later one winning key by key. */
export function mergeMeta(
  first: SharedV3ProviderMetadata | undefined,
  second: SharedV3ProviderMetadata | undefined,
): SharedV3ProviderMetadata | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const merged = { ...first };
  for (const [vendor, data] of Object.entries(second)) merged[vendor] = { ...merged[vendor], ...data };
  return merged;
}

function isMetadata(value: unknown): value is SharedV3ProviderMetadata {
  return isRecord(value) && Object.values(value).every(isRecord);
}
