/** `parley -p`: one prompt, the answer on stdout, everything else on stderr, and an exit code. */
import { createInterface } from "node:readline/promises";
import type { EventOf } from "../../core/event.js";
import type { Answer } from "../../core/op.js";
import type { Loaded } from "../../settings/settings.js";
import { openSession, type HostSession } from "../../host/session.js";
import { Questions } from "./questions.js";
import { asker } from "./asker.js";
import { buildEngine } from "../compose/build-engine.js";
import { rehearsalFallback } from "../compose/rehearsal-fallback.js";
import { withOfflineModel } from "../compose/offline.js";
import { hostProgramNamed } from "../command-line/host-program.js";
import { openingOf } from "../command-line/opening.js";
import { promptOf } from "../command-line/piped-prompt.js";
import { Screen, wantsColour } from "./screen.js";
import { endOnSignal, type SignalWatch } from "../compose/signals.js";
import type { Telemetry } from "../compose/telemetry.js";

type Env = Record<string, string | undefined>;

export async function runPrint(settled: Loaded, env: Env, given: string | undefined, telemetry: Telemetry): Promise<number> {
  const fromStdin = given === undefined || given === "-";
  const prompt = await promptOf(given);
  const screen = new Screen({ answer: process.stdout, aside: process.stderr, colour: wantsColour(process.stderr, env) });
  const { loaded, registered, end } = await withOfflineModel(settled, env, (line) => screen.line(line));
  // Started by another program's name without a key, the command fails as that program does; only `parley` falls back to the rehearsal.
  const isOwnName = hostProgramNamed(process.argv[1]) === undefined;
  const { config = {}, notice } = isOwnName ? rehearsalFallback(loaded, env) : {};
  for (const warning of [...loaded.warnings, ...(notice === undefined ? [] : [notice])]) screen.warning(warning);
  const agent = buildEngine(loaded, env, config, { registered, openTracer: telemetry.openTracer });
  const signals = endOnSignal(agent);
  const canAsk = !fromStdin && process.stdin.isTTY && process.stderr.isTTY;
  try {
    const session = await openSession(agent, openingOf(loaded));
    // A single prompt has no next turn, so the tools of servers must be there for the first. Each server has a time limit.
    if (hasServers(loaded, session)) for await (const event of session.gathered()) screen.show(event);
    const outcome = canAsk ? await runAsking(session, prompt, screen, signals) : await runUnasked(session, prompt, screen);
    await session.close();
    return signals.code() ?? (outcome === "completed" ? 0 : 1);
  } finally {
    await agent.close();
    await end();
  }
}

function hasServers({ settings }: Loaded, { ready }: HostSession): boolean {
  return Object.keys({ ...settings.mcpServers, ...ready.config?.mcpServers }).length > 0;
}

/** A turn that stopped before the model was done counts as a failure for a script. */
type Outcome = EventOf<"turn.ended">["outcome"] | "unfinished";

const UNFINISHED: ReadonlySet<string | undefined> = new Set(["length", "empty", "pause", "loop", "max_turns", "max_tool_calls"]);

function outcomeOf({ outcome, finish }: EventOf<"turn.ended">): Outcome {
  return outcome === "completed" && UNFINISHED.has(finish) ? "unfinished" : outcome;
}

async function runAsking(session: HostSession, prompt: string, screen: Screen, signals: SignalWatch): Promise<Outcome> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  signals.listen(terminal, () => void session.interrupt("interrupted by the user"));
  const questions = new Questions(asker(terminal), screen, session);
  let outcome: Outcome = "failed";
  try {
    for await (const event of session.prompt(prompt)) {
      questions.follow(event);
      if (event.type === "turn.ended") outcome = outcomeOf(event);
    }
    return outcome;
  } finally {
    terminal.close();
  }
}

async function runUnasked(session: HostSession, prompt: string, screen: Screen): Promise<Outcome> {
  let outcome: Outcome = "failed";
  for await (const event of session.prompt(prompt)) {
    screen.show(event);
    if (event.type === "approval.requested") await session.answer(refused(event));
    if (event.type === "host.request" && event.kind === "question")
      await session.answerRequest(event.request, false, { message: "nobody can be asked here" });
    if (event.type === "turn.ended") outcome = outcomeOf(event);
  }
  return outcome;
}

function refused(event: EventOf<"approval.requested">): Answer[] {
  const reason =
    "nobody can be asked here; allow it with --approve-tools, --approval-mode or a rule in the config, unless every mode asks about it";
  return event.calls.map((call) => ({ call: call.id, decision: "deny", reason }));
}
