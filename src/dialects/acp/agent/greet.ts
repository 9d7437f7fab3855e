/** `initialize`: what we say of ourselves, whatever agent is behind us. */
import { VERSION as PACKAGE } from "../../../core/version.js";
import { PROTOCOL, type ClientParams } from "../wire/records.js";
import type { AuthMethod, InitializeResult } from "../wire/sessions.js";

/** Keys are read from the environment: there is nothing to log in to. */
export const AUTH_METHODS: readonly AuthMethod[] = [
  {
    id: "environment",
    name: "Key in the environment",
    description:
      "Parley reads its provider's key from its environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …). " +
      "Set one where Parley is started; 'parley doctor' tells what is missing.",
  },
];

/** Every client is told our version: one that cannot speak it ends the connection. */
export function greeting(_asked: ClientParams<"initialize">): InitializeResult {
  return {
    protocolVersion: PROTOCOL,
    agentInfo: { name: "parley", title: "Parley", version: PACKAGE },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: {
        list: {},
        resume: {},
        close: {},
        fork: {},
        status: {},
        additionalDirectories: {},
        systemPrompt: { mode: { override: {} } },
      },
    },
    authMethods: [...AUTH_METHODS],
    _meta: { steering: { supported: true } },
  };
}
