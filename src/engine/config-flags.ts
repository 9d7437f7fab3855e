/** The flags of one run that are settings, and what may stand in them. */
import * as v from "valibot";
import { Mode, OutputCompaction, Thinking } from "../core/config.js";

/** As the command line gives them: words are not checked yet. */
export interface Flags {
  provider?: string;
  model?: string;
  baseUrl?: string;
  apiKey?: string;
  maxTokens?: number;
  maxTurns?: number;
  systemPrompt?: string;
  appendSystemPrompt?: string;
  autoApprove?: boolean;
  approveTools?: string[];
  workspace?: string;
  trustWorkspace?: boolean;
  sessionId?: string;
  resume?: string;
  noSession?: boolean;
  allowedTools?: string[];
  disallowedTools?: string[];
  thinking?: string;
  thinkingBudget?: number;
  outputCompaction?: string;
  /** Capabilities of the protocol to switch on. */
  capabilities?: string[];
  /** The approval mode. */
  mode?: string;
  offlineModel?: string;
}

/** The flags whose words are known to be right. */
export type CheckedFlags = Omit<Flags, "thinking" | "mode" | "outputCompaction"> & {
  thinking?: Thinking;
  mode?: Mode;
  outputCompaction?: OutputCompaction;
};

/**
 * Throws nothing: the problems come back as sentences. A host that has no provider, model, address or key to give may pass "",
 * which counts as not given.
 */
export function checkFlags(flags: Flags): { flags: CheckedFlags; problems: string[] } {
  const { thinking, mode, outputCompaction, ...rest } = flags;
  const problems: string[] = [];
  for (const key of ["maxTokens", "maxTurns"] as const) {
    const given = flags[key];
    if (given !== undefined && !(Number.isSafeInteger(given) && given > 0)) {
      problems.push(`flag ${flagName(key)} must be a whole number from 1, not ${given}`);
    }
  }
  if (flags.workspace === "") problems.push("flag --workspace is empty; name a folder or leave it out");
  if (flags.offlineModel === "") problems.push("flag --offline-model is empty; name a GGUF file or leave it out");
  const checked: CheckedFlags = { ...rest };
  for (const key of ["provider", "model", "baseUrl", "apiKey"] as const) {
    if (checked[key] === "") delete checked[key];
  }
  if (thinking !== undefined) {
    if (v.is(Thinking, thinking)) checked.thinking = thinking;
    else problems.push(notOneOf(flagName("thinking"), Thinking.options, thinking));
  }
  if (mode !== undefined) {
    if (v.is(Mode, mode)) checked.mode = mode;
    else problems.push(notOneOf(flagName("mode"), Mode.options, mode));
  }
  if (outputCompaction !== undefined) {
    if (v.is(OutputCompaction, outputCompaction)) checked.outputCompaction = outputCompaction;
    else problems.push(notOneOf("--compaction", OutputCompaction.options, outputCompaction));
  }
  if (flags.sessionId !== undefined && flags.resume !== undefined) {
    problems.push("flags --session-id and --resume exclude each other; give one of them");
  }
  if (flags.autoApprove === true && mode !== undefined && mode !== "yolo") {
    problems.push(`flag --auto-approve and the approval mode '${mode}' contradict each other; give one of them`);
  }
  return { flags: checked, problems };
}

/** `maxTurns` → `--max-turns` */
export function flagName(key: string): string {
  if (key === "mode") return "--approval-mode";
  if (key === "outputCompaction") return "--compaction";
  if (key === "capabilities") return "--capability";
  return `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function notOneOf(flag: string, options: readonly string[], given: string): string {
  return `flag ${flag} must be one of ${options.join(", ")}, not '${given}'`;
}
