/** The request for a list of models, as OpenAI and those who follow it take it. */
import { versioned } from "../access.js";

export function bearerList(address: string, apiKey: string | undefined): { url: string; headers: Record<string, string> } {
  return { url: `${versioned(address)}/models`, headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` } };
}
