/**
 * Credentials for AWS: a key for Bedrock alone, keys in the environment, or those that AWS's own chain finds (profiles, SSO, roles, containers,
 * the machine itself).
 */
import { configFault, type Access } from "../access.js";
import type { CredentialChain } from "./chain.js";

/** `name` is for the message about refused credentials. */
export type AwsSource = { name: string; bearer: string } | { name: string; sign: () => Promise<AwsCredentials>; isChain: boolean };

export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

const REMEDY = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or AWS_BEARER_TOKEN_BEDROCK";

export function awsSource(access: Access, region: string): AwsSource {
  const { env, apiKey } = access;
  const bearer = apiKey?.trim() || env["AWS_BEARER_TOKEN_BEDROCK"]?.trim();
  if (bearer) {
    access.secrets.push(bearer);
    return { name: apiKey === undefined ? "AWS_BEARER_TOKEN_BEDROCK" : (access.keyName ?? "the key"), bearer };
  }
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = env;
  if (!accessKeyId || !secretAccessKey) return chainSource(access, region);
  const own = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  access.secrets.push(secretAccessKey, sessionToken ?? "");
  const name = sessionToken
    ? "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN"
    : "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  return { name, sign: async () => own, isChain: false };
}

/** For a machine without signs of credentials: the last source is the machine's own service, which answers at once or not at all. */
export async function findCredentials(access: Access, region: string): Promise<void> {
  const disabled = access.env["AWS_EC2_METADATA_DISABLED"];
  const isDisabled = disabled !== undefined && disabled !== "" && disabled.toLowerCase() !== "false";
  // The service is asked twice, by its newer and its older protocol.
  const found = isDisabled ? undefined : await (await chainOf(access, region, 500))();
  if (found === undefined || "why" in found) throw configFault(`There are no AWS credentials: ${REMEDY}`, "apiKey");
}

function chainSource(access: Access, region: string): AwsSource {
  const name = nameOfChain(access.env);
  let chain: Promise<CredentialChain> | undefined;
  return {
    name,
    isChain: true,
    async sign() {
      const found = await (await (chain ??= chainOf(access, region)))();
      if ("why" in found) throw configFault(`There are no AWS credentials: ${found.why} (check ${name}; else ${REMEDY})`, "apiKey");
      const { secretAccessKey, sessionToken = "" } = found;
      access.secrets.push(...[secretAccessKey, sessionToken].filter((secret) => !access.secrets.includes(secret)));
      return found;
    },
  };
}

async function chainOf({ env }: Access, region: string, timeout?: number): Promise<CredentialChain> {
  const { credentialChain } = await import("./chain.js");
  return credentialChain(env, region, timeout);
}

function nameOfChain(env: Access["env"]): string {
  if (env["AWS_PROFILE"]) return `the AWS profile '${env["AWS_PROFILE"]}'`;
  if (env["AWS_WEB_IDENTITY_TOKEN_FILE"]) return "AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN";
  if (env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] || env["AWS_CONTAINER_CREDENTIALS_FULL_URI"]) return "the AWS role of this container";
  return "the AWS profile 'default' or the role of this machine";
}
