/**
 * Plain orders, played: the steps of the order and the results so far give the next response. Pure: where the model stands is counted
 * from the messages, so one model serves any number of conversations.
 */
import type { CallResult, ModelRequest } from "../model.js";
import { planOf, type Action, type Plan } from "./actions.js";
import { describeOrders } from "./orders.js";
import { attached, oneLine, recalled } from "./recall.js";
import type { Output, Response } from "./response.js";
import type { Step } from "./step.js";
import { denial, readTurn, resultText, type Turn } from "./turn.js";

/** Characters of results that a summary repeats. */
const SUMMARY = 2000;

export function play(request: ModelRequest): Response {
  const turn = readTurn(request.messages);
  const tools = new Set(request.tools.map((tool) => tool.name));
  const progress: Progress = { played: 0, before: "", ok: true, broken: [], reports: [] };
  let speech: Output[] = [];

  for (const step of turn.steps) {
    const plan = planOf(step);
    if (plan === undefined) {
      speech.push(...spoken(step, progress, turn));
      continue;
    }
    for (const action of plan.actions) {
      if (skipped(action, plan, step, progress, tools)) continue;
      const batch = turn.batches[progress.played];
      if (batch === undefined) return { outputs: [...introduction(turn, progress, speech), ...callsOf(action, progress.before)] };
      speech = [];
      progress.played += 1;
      note(progress, step, action, batch);
    }
  }
  return { outputs: ending(turn, progress, speech) };
}

interface Progress {
  /** Batches of calls that were made. */
  played: number;
  /** The results of the last batch as text, and whether every call succeeded. */
  before: string;
  ok: boolean;
  /** Files that could not be written: steps that name one are skipped. */
  broken: string[];
  reports: { text: string; shown: boolean }[];
}

function skipped(action: Action, plan: Plan, step: Step, progress: Progress, tools: ReadonlySet<string>): boolean {
  const words = JSON.stringify(step);
  if (action.needsBefore && !progress.ok) return true;
  if (progress.broken.some((file) => words.includes(JSON.stringify(file).slice(1, -1)))) return true;
  if (tools.has(action.tool)) return false;
  report(progress, `I need the tool ${action.tool} to ${plan.announcement}, and it is not available here.`);
  failed(progress, step);
  return true;
}

function note(progress: Progress, step: Step, action: Action, batch: readonly CallResult[]): void {
  progress.ok = batch.every((result) => !result.failed);
  progress.before = batch
    .filter((result) => !result.failed || action.tool === "Bash")
    .map(resultText)
    .join("\n");
  for (const [index, result] of batch.entries()) {
    const reason = denial(result);
    if (reason !== undefined) report(progress, reason === "" ? "That was denied." : `That was denied: ${reason}.`);
    else if (result.failed) report(progress, `${result.name} failed: ${resultText(result) || "it gave no reason"}`);
    else report(progress, action.told(resultText(result), index), true);
  }
  if (!progress.ok) failed(progress, step);
}

function failed(progress: Progress, step: Step): void {
  progress.ok = false;
  if (step.do === "write" || step.do === "append") progress.broken.push(step.file);
}

function report(progress: Progress, text: string, shown = false): void {
  if (text !== "") progress.reports.push({ text, shown });
}

function callsOf(action: Action, before: string): Output[] {
  return action.args(before).map((args) => ({ type: "call", call: { tool: action.tool, args } }));
}

/** The plan, before the first calls only; a steer is acknowledged before any calls. */
function introduction(turn: Turn, progress: Progress, speech: readonly Output[]): Output[] {
  const plans = turn.steps.flatMap((step) => planOf(step)?.announcement ?? []);
  const plan = progress.played === 0 ? sentence(`I'll ${plans.join(", then ")}.`) : [];
  return joined([...noted(turn), ...speech, ...plan]);
}

function ending(turn: Turn, progress: Progress, speech: readonly Output[]): Output[] {
  const repeated = turn.steps.some((step) => step.do === "say" && typeof step.text !== "string");
  const reports = progress.reports.filter(({ shown }) => !(shown && repeated)).map(({ text }) => text);
  const summary = reports.length === 0 ? [] : sentence(capped(reports.join("\n")));
  const outputs = joined([...noted(turn), ...summary, ...speech]);
  const done = outputs.some(
    (output) => output.type === "say" || output.type === "cut" || (output.type === "fail" && output.failure.times === undefined),
  );
  return done ? outputs : [...outputs, ...sentence("Done.")];
}

function noted({ noted: text }: Turn): Output[] {
  return text === undefined ? [] : sentence(`Noted: ${oneLine(text, 200)}`);
}

function sentence(text: string): Output[] {
  return [{ type: "say", speech: text }];
}

/** Speech that follows speech starts a paragraph. */
function joined(outputs: readonly Output[]): Output[] {
  let said = false;
  return outputs.map((output) => {
    if (output.type !== "say") return output;
    const continues = said;
    said = true;
    return continues && typeof output.speech === "string" ? { type: "say", speech: `\n\n${output.speech}` } : output;
  });
}

function capped(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.length <= SUMMARY ? trimmed : `${trimmed.slice(0, SUMMARY)}\n… (${trimmed.length - SUMMARY} more characters)`;
}

/** The output of a step without a tool. */
function spoken(step: Step, progress: Progress, turn: Turn): Output[] {
  switch (step.do) {
    case "say":
      return typeof step.text === "string" ? sentence(step.text) : sentence(capped(progress.before));
    case "think":
      return [
        {
          type: "think",
          speech: step.about === "" ? "Let me think this through, one step after the other." : `Let me think about ${step.about}.`,
        },
      ];
    case "stream":
      return [{ type: "say", speech: { piece: step.text, times: step.pieces } }];
    case "count":
      return sentence(counted(step.from, step.to));
    case "wait":
      return [{ type: "wait", ms: step.ms }];
    case "fail":
      return [
        {
          type: "fail",
          failure: { ...(step.status !== undefined && { status: step.status }), ...(step.times !== undefined && { times: step.times }) },
        },
      ];
    case "cut":
      return [...sentence("This answer breaks off in the"), { type: "cut" }];
    case "remember":
      return sentence(`I will remember ${step.fact === "" ? "that" : `the ${step.fact}`}: ${step.value}.`);
    case "recall":
      return sentence(recalled(step.what, turn));
    case "greet":
      return sentence("Hello! I am the rehearsal model: give me an order, or ask for help.");
    case "help":
      return sentence(`I am the rehearsal model: no network, no cost, the same answer every time. ${describeOrders()}`);
    case "unknown":
      return sentence(unknown(step.text, turn));
    case "read":
    case "write":
    case "append":
    case "edit":
    case "run":
    case "grep":
    case "glob":
    case "todo":
    case "fetch":
    case "spawn":
    case "call":
      return [];
    default:
      step satisfies never;
      return [];
  }
}

function unknown(text: string, turn: Turn): string {
  if (turn.steps.length > 1) return `I did not understand: “${oneLine(text, 120)}”`;
  const attachment = attached(turn.order);
  const heard = `You said: “${oneLine(text, 300)}”${attachment === undefined ? "" : `\n${attachment}`}`;
  return `${heard}\n\nI am the rehearsal model and only follow plain orders. ${describeOrders()}`;
}

const MOST_NUMBERS = 10_000;

function counted(from: number, to: number): string {
  const direction = from <= to ? 1 : -1;
  return Array.from({ length: Math.min(Math.abs(to - from) + 1, MOST_NUMBERS) }, (_, index) => from + index * direction).join(" ");
}
