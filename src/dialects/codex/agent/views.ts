/** Threads and turns as the client sees them, with every field that the real server writes. */
import * as v from "valibot";
import { roughSize } from "../../../core/queue.js";
import type { AnyItem } from "../wire/items.js";
import { sandboxPolicy } from "../wire/policy.js";
import type { ClientThread, KeptTurn } from "./state.js";

export const VERSION = "0.166.0";

/** The largest number of turns that a live thread keeps for `thread/read`, and their largest total size. */
const KEPT = 200;
const KEPT_BYTES = 8 * 1024 * 1024;

export function threadView(thread: ClientThread, turns: readonly KeptTurn[] = []): Record<string, unknown> {
  const { threadId, forkedFrom, config, preview, name, createdAt, isKept, lanes, waitsFor } = thread;
  const last = thread.turns.at(-1);
  const updatedAt = last?.completedAt ?? last?.startedAt ?? createdAt;
  return {
    ...storedView({ id: threadId, cwd: config.cwd ?? "", name, preview, createdAt, updatedAt }),
    forkedFromId: forkedFrom ?? null,
    ephemeral: !isKept,
    modelProvider: config.provider ?? "",
    model: config.model ?? null,
    reasoningEffort: config.effort ?? config.thinking ?? null,
    status: statusView(lanes.has(""), waitsFor),
    turns: turns.map((turn) => turnView(turn, "full")),
  };
}

interface Stored {
  id: string;
  cwd: string;
  name: string | undefined;
  preview: string;
  createdAt: number;
  updatedAt: number;
}

function storedView({ id, cwd, name, preview, createdAt, updatedAt }: Stored): Record<string, unknown> {
  return {
    id,
    sessionId: id,
    forkedFromId: null,
    parentThreadId: null,
    preview,
    ephemeral: false,
    section: null,
    sectionEnteredAt: null,
    projectId: null,
    historyMode: "legacy",
    modelProvider: "",
    model: null,
    reasoningEffort: null,
    createdAt,
    updatedAt,
    recencyAt: updatedAt,
    status: { type: "notLoaded" },
    path: null,
    cwd,
    cliVersion: VERSION,
    originator: null,
    source: "appServer",
    threadSource: null,
    agentNickname: null,
    agentRole: null,
    gitInfo: null,
    name: name ?? null,
    turns: [],
  };
}

const Summaries = v.looseObject({
  stored: v.array(
    v.looseObject({
      id: v.string(),
      cwd: v.optional(v.string()),
      name: v.optional(v.string()),
      firstPrompt: v.optional(v.string()),
      createdAt: v.optional(v.number()),
      usedAt: v.optional(v.number()),
      archived: v.optional(v.boolean()),
    }),
  ),
});

export interface StoredThread {
  thread: Record<string, unknown>;
  isArchived: boolean;
}

/** The stored sessions of an agent's list, the newest first. */
export function storedThreads(data: unknown): StoredThread[] {
  if (!v.is(Summaries, data)) return [];
  return data.stored.map(({ id, cwd = "", name, firstPrompt = "", createdAt = 0, usedAt = createdAt, archived = false }) => ({
    thread: storedView({ id, cwd, name, preview: firstPrompt, createdAt: seconds(createdAt), updatedAt: seconds(usedAt) }),
    isArchived: archived,
  }));
}

export function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

export function statusView(isActive: boolean, waitsFor: readonly string[] = []): Record<string, unknown> {
  return isActive ? { type: "active", activeFlags: waitsFor } : { type: "idle" };
}

/** The answer to `thread/start`, `thread/resume` and `thread/fork`. */
export function openedView(thread: ClientThread, turns: readonly KeptTurn[]): Record<string, unknown> {
  const { config, shown } = thread;
  return {
    thread: threadView(thread, turns),
    ...settingsHead(thread),
    disabledPluginIds: [],
    instructionSources: [],
    sandbox: sandboxPolicy(shown.sandbox, config.directories),
    reasoningEffort: config.effort ?? config.thinking ?? null,
  };
}

export function settingsView(thread: ClientThread): Record<string, unknown> {
  const { config, shown } = thread;
  const { model = "", effort = null, mode } = config;
  return {
    ...settingsHead(thread),
    disabledPluginIds: [],
    sandboxPolicy: sandboxPolicy(shown.sandbox, config.directories),
    activePermissionProfile: null,
    effort,
    summary: null,
    collaborationMode: {
      mode: mode === "plan" ? "plan" : "default",
      settings: { model, reasoning_effort: effort, developer_instructions: null },
    },
    personality: null,
  };
}

function settingsHead({ config, shown }: ClientThread): Record<string, unknown> {
  return {
    model: config.model ?? "",
    modelProvider: config.provider ?? "",
    serviceTier: null,
    cwd: config.cwd ?? "",
    approvalPolicy: shown.approvalPolicy,
    approvalsReviewer: "user",
  };
}

export function turnView(turn: KeptTurn, itemsView: "notLoaded" | "summary" | "full"): Record<string, unknown> {
  const { id, items, status, error, startedAt, completedAt } = turn;
  const durationMs = completedAt === null ? null : (completedAt - startedAt) * 1000;
  return { id, rootTurnId: id, items: shownItems(items, itemsView), itemsView, status, error, startedAt, completedAt, durationMs };
}

function shownItems(items: readonly AnyItem[], view: "notLoaded" | "summary" | "full"): readonly AnyItem[] {
  if (view === "full") return items;
  return view === "notLoaded" ? [] : items.filter(({ type }) => type === "agentMessage").slice(-1);
}

/** A turn that the agent has not taken yet: it has an id and nothing else. */
export function freshTurn(id: string): Record<string, unknown> {
  return {
    id,
    rootTurnId: id,
    items: [],
    itemsView: "notLoaded",
    status: "inProgress",
    error: null,
    startedAt: null,
    completedAt: null,
    durationMs: null,
  };
}

/** Keeps a turn and drops the oldest turns beyond the limits; the newest turn always stays. */
export function keep(thread: ClientThread, turn: KeptTurn): void {
  const { turns } = thread;
  turn.bytes = roughSize(turn.items);
  turns.push(turn);
  let bytes = turns.reduce((sum, each) => sum + each.bytes, 0);
  while (turns.length > 1 && (turns.length > KEPT || bytes > KEPT_BYTES)) bytes -= turns.shift()?.bytes ?? 0;
}
