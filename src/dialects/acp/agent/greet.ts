/** The answer to `initialize`: it describes Parley and does not depend on the agent behind it. */
import { VERSION as PACKAGE } from "../../../core/version.js";
import { PROTOCOL, type ClientParams } from "../wire/records.js";
import type { AuthMethod, InitializeResult } from "../wire/sessions.js";

/** The only way to log in: Parley reads keys from its environment. */
export const AUTH_METHODS: readonly AuthMethod[] = [
  {
    id: "environment",
    name: "Key in the environment",
    description:
      "Parley reads its provider's key from its environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …). " +
      "Set one where Parley is started; 'parley doctor' tells what is missing.",
  },
];

/** Each client gets the version that we speak; a client that does not speak it ends the connection. */
export function greeting(_asked: ClientParams<"initialize">): InitializeResult {
  return {
    protocolVersion: PROTOCOL,
    agentInfo: { name: "parley", title: "Parley", version: PACKAGE },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      auth: { logout: {} },
      sessionCapabilities: {
        list: {},
        resume: {},
        close: {},
        delete: {},
        fork: {},
        status: {},
        title: {},
        archive: {},
        additionalDirectories: {},
        systemPrompt: { mode: { override: {} } },
      },
    },
    authMethods: [...AUTH_METHODS],
    _meta: { steering: { supported: true } },
  };
}
