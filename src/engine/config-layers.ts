/** The sources of settings, in one shape: what each says, by the setting's key path, and how it calls the place. */
import type { Mode, OutputCompaction, Thinking } from "../core/config.js";
import type { ConfigFile } from "./config-file.js";
import type { Config } from "./config-schema.js";
import { flagName, type CheckedFlags } from "./config-flags.js";

/** Settings of which there is one: the highest source that has it decides. */
export interface Singles {
  apiKey?: string | undefined;
  maxTokens?: number | undefined;
  maxTurns?: number | undefined;
  system?: string | undefined;
  appendSystem?: string | undefined;
  mode?: Mode | undefined;
  approveTools?: string[] | undefined;
  allowedTools?: string[] | undefined;
  disallowedTools?: string[] | undefined;
  thinking?: Thinking | undefined;
  thinkingBudget?: number | undefined;
  outputCompaction?: OutputCompaction | undefined;
  capabilities?: string[] | undefined;
  theme?: Config["theme"];
  sessionId?: string | undefined;
  resume?: string | undefined;
  offlineModel?: string | undefined;
  llamaServer?: string | undefined;
  "sessions.enabled"?: boolean | undefined;
  "sessions.keep"?: number | undefined;
  "limits.contextTokens"?: number | undefined;
  "limits.lineBytes"?: number | undefined;
  "limits.approvalSeconds"?: number | undefined;
  "limits.outputChars"?: number | undefined;
  "limits.nesting"?: number | undefined;
  "limits.connectSeconds"?: number | undefined;
  "limits.firstByteSeconds"?: number | undefined;
  "limits.idleSeconds"?: number | undefined;
}

export interface Layer {
  values: Singles;
  from(key: keyof Singles): string;
}

/** Settings that a config file calls by another name. */
export const FILE_KEYS: Readonly<Record<string, string>> = {
  mode: "approval",
  approveTools: "allowTools",
  system: "systemPrompt",
  appendSystem: "appendSystemPrompt",
};

export function fileLayer({ config, locate }: ConfigFile): Layer {
  return {
    values: {
      maxTokens: config.maxTokens,
      maxTurns: config.maxTurns,
      system: config.systemPrompt,
      appendSystem: config.appendSystemPrompt,
      mode: config.approval,
      approveTools: config.allowTools,
      allowedTools: config.allowedTools,
      disallowedTools: config.disallowedTools,
      thinking: config.thinking,
      outputCompaction: config.outputCompaction,
      capabilities: config.capabilities,
      theme: config.theme,
      llamaServer: config.llamaServer,
      "sessions.enabled": config.sessions?.enabled,
      "sessions.keep": config.sessions?.keep,
      "limits.contextTokens": config.limits?.contextTokens,
      "limits.lineBytes": config.limits?.lineBytes,
      "limits.approvalSeconds": config.limits?.approvalSeconds,
      "limits.outputChars": config.limits?.outputChars,
      "limits.nesting": config.limits?.nesting,
      "limits.connectSeconds": config.limits?.connectSeconds,
      "limits.firstByteSeconds": config.limits?.firstByteSeconds,
      "limits.idleSeconds": config.limits?.idleSeconds,
    },
    from: (key) => locate((FILE_KEYS[key] ?? key).split(".")),
  };
}

export function flagLayer(flags: CheckedFlags): Layer {
  const names: Partial<Record<keyof Singles, keyof CheckedFlags>> = {
    system: "systemPrompt",
    appendSystem: "appendSystemPrompt",
    mode: flags.autoApprove === true ? "autoApprove" : "mode",
    "sessions.enabled": "noSession",
  };
  return {
    values: {
      apiKey: flags.apiKey,
      maxTokens: flags.maxTokens,
      maxTurns: flags.maxTurns,
      system: flags.systemPrompt,
      appendSystem: flags.appendSystemPrompt,
      mode: flags.autoApprove === true ? "yolo" : flags.mode,
      approveTools: flags.approveTools,
      allowedTools: flags.allowedTools,
      disallowedTools: flags.disallowedTools,
      thinking: flags.thinking,
      thinkingBudget: flags.thinkingBudget,
      outputCompaction: flags.outputCompaction,
      capabilities: flags.capabilities,
      sessionId: flags.sessionId,
      resume: flags.resume,
      offlineModel: flags.offlineModel,
      "sessions.enabled": flags.noSession === true ? false : undefined,
    },
    from: (key) => `flag ${flagName(names[key] ?? key)}`,
  };
}
