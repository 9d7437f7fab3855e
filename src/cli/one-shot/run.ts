/** One prompt: the answer on stdout in the format that was asked for, everything else on stderr, and an exit code. */
import { createInterface } from "node:readline/promises";
import { textPart, type Part } from "../../core/content.js";
import { toFault } from "../../core/errors.js";
import { withRemedy } from "../../core/remedies.js";
import type { EventOf } from "../../core/event.js";
import type { Answer } from "../../core/op.js";
import type { Loaded } from "../../settings/settings.js";
import { openSession, type HostSession } from "../../host/session.js";
import { asker } from "../chat/asker.js";
import { Interview } from "../chat/interview.js";
import { PlainQuestions } from "../chat/plain-questions.js";
import { buildEngine } from "../compose/build-engine.js";
import { rehearsalFallback } from "../compose/rehearsal-fallback.js";
import { withOfflineModel } from "../compose/offline.js";
import { text, type Parsed } from "../command-line/flags.js";
import { exitCode } from "../command-line/exit-code.js";
import { hostProgramNamed } from "../command-line/host-program.js";
import { openingOf, withConfig } from "../command-line/opening.js";
import { sessionFlags } from "../serve/structured-flags.js";
import { Screen } from "../chat/screen.js";
import { looksFor } from "../chat/theme.js";
import { endOnSignal, type SignalWatch } from "../compose/signals.js";
import type { Telemetry } from "../compose/telemetry.js";
import { LastMessage } from "./last-message.js";
import { checkMentions } from "./mentions.js";
import { answerSink, listened, outputOf, type Format } from "./output.js";
import { readPrompt, type OnePrompt } from "./prompt.js";

interface Surroundings {
  format: Format | undefined;
  env: Record<string, string | undefined>;
  telemetry: Telemetry;
}

/** Throws what goes wrong before there is a session; a later failure is in the output and in the exit code. */
export async function runOneShot(parsed: Parsed, settled: Loaded, { format = "text", env, telemetry }: Surroundings): Promise<number> {
  const prompt = await readPrompt(parsed);
  const screen = new Screen({ answer: answerSink(format), aside: process.stderr, looks: looksFor(process.stderr, env), progress: true });
  const named = hostProgramNamed(process.argv[1]);
  const asked = await sessionFlags(parsed, named?.dialect ?? "");
  const opening = openingOf(settled);
  if (opening.open === "new") await checkMentions(prompt, settled.settings);
  const { loaded, registered, end } = await withOfflineModel(settled, env, (line) => screen.line(line));
  // Started by another program's name without a key, the command fails as that program does; only `parley` falls back to the rehearsal.
  const { config = {}, notice } = named === undefined ? rehearsalFallback(loaded, env) : {};
  for (const warning of [...loaded.warnings, ...(notice === undefined ? [] : [notice])]) screen.warning(warning);
  const output = outputOf(format);
  const last = new LastMessage(text(parsed, "last-message"));
  const agent = listened(buildEngine(loaded, env, { ...config, ...asked }, { registered, openTracer: telemetry.openTracer }), {
    ...output,
    see(event) {
      output.see(event);
      last.see(event);
    },
  });
  const signals = endOnSignal(agent);
  const isAsking = !prompt.isFromStdin && process.stdin.isTTY && process.stderr.isTTY;
  const refused = (error: unknown): number => {
    process.stderr.write(`parley: ${withRemedy(toFault(error))}\n`);
    return exitCode(toFault(error), named?.exits);
  };
  try {
    const session = await openSession(agent, withConfig(openingOf(loaded), asked));
    const code = await ran({ session, prompt, screen, loaded }, isAsking ? signals : undefined).catch((error: unknown) => {
      output.failed(toFault(error));
      return refused(error);
    });
    await session.close();
    await last.write(code === 0);
    return signals.code() ?? code;
  } catch (error) {
    output.refused(toFault(error));
    return refused(error);
  } finally {
    output.end();
    await agent.close();
    await end();
  }
}

interface Run {
  session: HostSession;
  prompt: OnePrompt;
  screen: Screen;
  loaded: Loaded;
}

/** `signals` when there is somebody at a terminal who can be asked. */
async function ran({ session, prompt, screen, loaded }: Run, signals: SignalWatch | undefined): Promise<number> {
  await checkMentions(prompt, loaded.settings, session.ready.config);
  // A single prompt has no next turn, so the tools of servers must be there for the first. Each server has a time limit.
  if (hasServers(loaded, session)) for await (const event of session.gathered()) screen.show(event);
  const asked = { parts: [textPart(prompt.text), ...prompt.attached], mentions: prompt.mentioning !== undefined };
  const outcome = await (signals === undefined ? runUnasked(session, asked, screen) : runAsking(session, asked, screen, signals));
  return outcome === "completed" ? 0 : 1;
}

interface Asked {
  parts: Part[];
  mentions: boolean;
}

function hasServers({ settings }: Loaded, { ready }: HostSession): boolean {
  return Object.keys({ ...settings.mcpServers, ...ready.config?.mcpServers }).length > 0;
}

/** A turn that stopped before the model was done counts as a failure for a script. */
type Outcome = EventOf<"turn.ended">["outcome"] | "unfinished";

const UNFINISHED: ReadonlySet<string | undefined> = new Set([
  "length",
  "empty",
  "pause",
  "loop",
  "max_turns",
  "max_tool_calls",
  "max_cost",
]);

function outcomeOf({ outcome, finish }: EventOf<"turn.ended">): Outcome {
  return outcome === "completed" && UNFINISHED.has(finish) ? "unfinished" : outcome;
}

async function runAsking(session: HostSession, { parts, mentions }: Asked, screen: Screen, signals: SignalWatch): Promise<Outcome> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  signals.listen(terminal, () => void session.interrupt("interrupted by the user"));
  const interview = new Interview(new PlainQuestions(screen, asker(terminal).ask), session);
  let outcome: Outcome = "failed";
  try {
    for await (const event of session.prompt(parts, { mentions })) {
      screen.show(event);
      interview.follow(event);
      if (event.type === "turn.ended") outcome = outcomeOf(event);
    }
    return outcome;
  } finally {
    terminal.close();
  }
}

async function runUnasked(session: HostSession, { parts, mentions }: Asked, screen: Screen): Promise<Outcome> {
  let outcome: Outcome = "failed";
  for await (const event of session.prompt(parts, { mentions })) {
    screen.show(event);
    if (event.type === "approval.requested") await session.answer(denied(event));
    if (event.type === "host.request" && event.kind === "question")
      await session.answerRequest(event.request, false, { message: "nobody can be asked here" });
    if (event.type === "turn.ended") outcome = outcomeOf(event);
  }
  return outcome;
}

function denied(event: EventOf<"approval.requested">): Answer[] {
  const reason =
    "nobody can be asked here; allow it with --approve-tools, --approval-mode or a rule in the config, unless every mode asks about it";
  return event.calls.map((call) => ({ call: call.id, decision: "deny", reason }));
}
