/** Application inference profiles: their names do not tell the model behind them, so AWS is asked. */
import { AwsV4Signer } from "aws4fetch";
import * as v from "valibot";
import type { Fetch } from "../vendor/vendor.js";
import type { AwsSource } from "./credentials.js";

const Profile = v.looseObject({ models: v.array(v.looseObject({ modelArn: v.string() })) });

export function isProfile(id: string): boolean {
  return /^arn:aws[\w-]*:bedrock:.*:(?:application-)?inference-profile\//.test(id);
}

/** Undefined if AWS does not answer: the credentials may lack `bedrock:GetInferenceProfile`. */
export async function modelBehind(
  arn: string,
  region: string,
  endpoint: string,
  source: AwsSource,
  fetch: Fetch,
): Promise<string | undefined> {
  try {
    const url = `${endpoint.replace(/\/+$/, "")}/inference-profiles/${encodeURIComponent(arn)}`;
    const headers = "bearer" in source ? { authorization: `Bearer ${source.bearer}` } : await signed(url, region, await source.sign());
    const response = await fetch(url, { headers });
    const profile = response.ok ? v.safeParse(Profile, await response.json()) : undefined;
    return profile?.success === true ? nameIn(profile.output.models[0]?.modelArn) : undefined;
  } catch {
    return undefined;
  }
}

async function signed(url: string, region: string, credentials: Awaited<ReturnType<Extract<AwsSource, { sign: unknown }>["sign"]>>) {
  const { headers } = await new AwsV4Signer({ ...credentials, url, region, service: "bedrock" }).sign();
  return Object.fromEntries(headers);
}

/** The ARN ends with the model: `arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0`. */
function nameIn(arn: string | undefined): string | undefined {
  return arn?.slice(arn.lastIndexOf("/") + 1);
}
