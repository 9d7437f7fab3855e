/**
 * AWS's own chain of credentials. It gets the session's profile, files and web identity; from our process it takes the presence of a
 * container or a machine, the profile and tokens of SSO, and the environment of a credential process.
 */
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { messageOf } from "../../../core/errors.js";
import type { AwsCredentials } from "./credentials.js";
import { awsFiles } from "./profile.js";

/** It keeps its credentials, and looks again before they expire. */
export type CredentialChain = () => Promise<AwsCredentials | { why: string }>;

/** `timeout`: how long a container or a machine may take to answer, in milliseconds. */
export function credentialChain(env: Record<string, string | undefined>, region: string, timeout?: number): CredentialChain {
  const { profile, configFile, credentialsFile } = awsFiles(env);
  const { AWS_WEB_IDENTITY_TOKEN_FILE: webIdentityTokenFile, AWS_ROLE_ARN: roleArn, AWS_ROLE_SESSION_NAME: roleSessionName } = env;
  const complaints = new Set<string>();
  const provider = defaultProvider({
    // Always named, or the chain would take keys from the process's environment, which need not be the session's.
    profile,
    filepath: credentialsFile,
    configFilepath: configFile,
    ignoreCache: true,
    clientConfig: { region },
    // Without a logger it would warn on the console; and only here each link tells why it found nothing.
    logger: { debug: (line) => void complaints.add(complaintIn(line)), info: ignore, warn: ignore, error: ignore },
    ...(webIdentityTokenFile && { webIdentityTokenFile }),
    ...(roleArn && { roleArn }),
    ...(roleSessionName && { roleSessionName }),
    ...(timeout !== undefined && { timeout }),
  });
  return async () => {
    complaints.clear();
    try {
      const { accessKeyId, secretAccessKey, sessionToken } = await provider();
      return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
    } catch (error) {
      const why = [...complaints].filter((complaint) => complaint !== "").join("; ");
      return { why: messageOf(error).startsWith("Could not load credentials from any") && why !== "" ? why : messageOf(error) };
    }
  };
}

/** Links that do not apply report here, too. */
const NOT_MEANT =
  /skipping|did not contain credential_process|could not be found in shared|configuration not specified|access disabled|checking config file next|from any providers/i;

function complaintIn(line: unknown): string {
  const [, complaint = ""] = /^@smithy\/property-provider \S+ ([^]*)$/.exec(String(line)) ?? [];
  return NOT_MEANT.test(complaint) ? "" : complaint.trim().replaceAll(/\s+/g, " ");
}

function ignore(): void {
  // The chain also logs its failures as errors.
}
