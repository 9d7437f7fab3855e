/** Claude and Gemini on Vertex AI: their own wires, at an address with a project, a region and a Google account. */
import { configFault, versioned, type Access } from "../access.js";
import { CLAUDE_SEARCH } from "./claude-search.js";
import { GOOGLE_SEARCH } from "./google-search.js";
import type { Provider } from "./provider.js";

export const vertex: Provider = {
  webSearch({ id, address, compat }) {
    if (!(compat.webSearch ?? address === undefined)) return undefined;
    return id.includes("claude") ? CLAUDE_SEARCH : GOOGLE_SEARCH;
  },
  async check(access) {
    placeOf(access);
    if (access.apiKey !== undefined) return undefined;
    await (await import("../google/credentials.js")).findCredentials(access.env);
    return "GOOGLE_APPLICATION_CREDENTIALS";
  },
  async load(access, fetch) {
    const { openVertex } = await import("../google/vertex-models.js");
    return openVertex(access, placeOf(access), fetch);
  },
};

/** The common part of both kinds of addresses, up to the region. */
function placeOf({ id, env, address }: Access): string {
  const project = env["VERTEX_PROJECT_ID"] || env["GOOGLE_CLOUD_PROJECT"];
  if (!project) throw configFault("VERTEX_PROJECT_ID not set; it is the id of the Google Cloud project that pays");
  // Claude is not available in every region, and the newest Gemini only at the global endpoint.
  const region = env["VERTEX_REGION"] || env["GOOGLE_CLOUD_LOCATION"] || (id.includes("claude") ? "us-east5" : "global");
  if (!/^[a-z0-9-]+$/.test(region)) throw configFault(`VERTEX_REGION '${region}' is not a region; one looks like us-east5, or is global`);
  const root = address ?? `https://${hostOf(region)}`;
  return `${versioned(root)}/projects/${encodeURIComponent(project)}/locations/${region}`;
}

function hostOf(region: string): string {
  if (region === "global") return "aiplatform.googleapis.com";
  return region === "eu" || region === "us" ? `aiplatform.${region}.rep.googleapis.com` : `${region}-aiplatform.googleapis.com`;
}
