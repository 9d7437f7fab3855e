/** The user's AWS profile, as far as it is read before AWS's own package is loaded: its files and their content. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { configFault } from "../access.js";

type Env = Record<string, string | undefined>;

export interface AwsFiles {
  /** The chosen profile. */
  profile: string;
  configFile: string;
  credentialsFile: string;
}

export function awsFiles(env: Env): AwsFiles {
  const home = env["HOME"] || env["USERPROFILE"] || homedir();
  return {
    profile: env["AWS_PROFILE"] || "default",
    configFile: env["AWS_CONFIG_FILE"] || join(home, ".aws", "config"),
    credentialsFile: env["AWS_SHARED_CREDENTIALS_FILE"] || join(home, ".aws", "credentials"),
  };
}

/** The settings of the profile in both files; empty if there are none. */
export async function readProfile(env: Env): Promise<Map<string, string>> {
  const { profile, configFile, credentialsFile } = awsFiles(env);
  const [credentials, config] = await Promise.all([textOf(credentialsFile), textOf(configFile)]);
  return new Map([...sectionOf(credentials, [profile]), ...sectionOf(config, namesInConfig(profile))]);
}

export function awsRegion(env: Env, profile: ReadonlyMap<string, string>): string {
  const region = env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || profile.get("region");
  if (region === undefined) throw configFault("AWS_REGION not set: name the region whose Bedrock is to be used, such as us-east-1");
  if (!/^[a-z0-9-]+$/.test(region)) throw configFault(`AWS_REGION is '${region}', which is no region; use one such as us-east-1`);
  return region;
}

/** In the config file, every profile but the default one has the word `profile` before its name. */
function namesInConfig(profile: string): string[] {
  return profile === "default" ? ["default", "profile default"] : [`profile ${profile}`];
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return "";
  }
}

function sectionOf(text: string, names: readonly string[]): [string, string][] {
  let isWanted = false;
  const found: [string, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, heading] = /^\s*\[([^\]]*)\]/.exec(line) ?? [];
    if (heading !== undefined) isWanted = names.includes(heading.replaceAll(/["']/g, "").trim().replace(/\s+/, " "));
    // Indented lines belong to a setting that has parts.
    const [, key, value] = /^([^\s=#;[]+)\s*=\s*(.*?)\s*(?:\s[#;].*)?$/.exec(line) ?? [];
    if (isWanted && key !== undefined && value !== undefined && value !== "") found.push([key.toLowerCase(), value]);
  }
  return found;
}
