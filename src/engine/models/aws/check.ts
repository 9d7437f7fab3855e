/** Checks AWS when a session opens: a region is known, and there is a place to find credentials in. */
import { configFault, type Access } from "../access.js";
import { awsSource, findCredentials } from "./credentials.js";
import { awsFiles, awsRegion, readProfile } from "./profile.js";

/** The source of the credentials. An obvious source is read only by the first request: it may take a while, or open a browser. */
export async function checkAws(access: Access): Promise<string> {
  const { env } = access;
  const profile = await readProfile(env);
  const region = awsRegion(env, profile);
  const source = awsSource(access, region);
  if ("bearer" in source || !source.isChain) return source.name;
  if (env["AWS_PROFILE"] && profile.size === 0) {
    const { profile: name, configFile, credentialsFile } = awsFiles(env);
    throw configFault(`There is no AWS profile '${name}' in ${configFile} or ${credentialsFile}; check AWS_PROFILE`);
  }
  if (!isObvious(env, profile)) await findCredentials(access, region);
  return source.name;
}

const VARIABLES = [
  "AWS_PROFILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];
const SETTINGS = /^(aws_access_key_id|role_arn|sso_|credential_process|credential_source|web_identity_token_file|login_session)/;

function isObvious(env: Access["env"], profile: ReadonlyMap<string, string>): boolean {
  return VARIABLES.some((name) => env[name]) || [...profile.keys()].some((name) => SETTINGS.test(name));
}
