/** Grades an agent: plays each requirement in a scene of its own, a few at a time, each with a limit. */
import { messageOf } from "../../core/errors.js";
import type { Requirement } from "../requirements/requirement.js";
import type { Breach } from "./conversation.js";
import { Failed, type Result } from "./outcome.js";
import type { Probes } from "./probes.js";
import { Scene, type Candidate } from "./scene.js";

export interface GradeOptions {
  only: readonly string[] | undefined;
  /** A requirement's time. */
  seconds: number;
  candidateFor(id: string): Promise<Candidate>;
}

export type Grading = { results: Result[] } | { notRun: string };

/** Scenes that are played side by side. */
const AT_ONCE = 3;

export async function grade(requirements: readonly Requirement[], probes: Probes, options: GradeOptions): Promise<Grading> {
  const chosen = requirements.filter(({ id }) => options.only?.includes(id) ?? true);
  const met = await played("start", options, (scene) => probes.meet(scene));
  if (met.error !== undefined) return { notRun: messageOf(met.error) };
  const breaches: Breach[] = [];
  const graded = new Map<string, Graded>();
  const waiting = chosen.filter(({ id }) => Object.hasOwn(probes.plays, id));
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const { rec, why, lines } of breaches) {
    const id = probes.charge(rec);
    // The first malformed line of a kind says enough.
    if (graded.has(id) && graded.get(id)?.outcome !== "fail") graded.set(id, { outcome: "fail", why, lines });
  }
  return { results: chosen.map(({ id, level, title }) => ({ id, level, title, ...(graded.get(id) ?? NOT_CHECKED) })) };

  async function worker(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { id, needs } = next;
      const { error, scene } = await played(id, options, async (opened) => probes.plays[id]?.(opened));
      breaches.push(...(scene?.conversations.flatMap((conversation) => conversation.breaches) ?? []));
      graded.set(id, outcomeOf(error, scene, needs.includes("model")));
    }
  }
}

type Graded = Pick<Result, "outcome" | "why" | "lines">;

const NOT_CHECKED: Graded = { outcome: "skipped", why: "not checked yet" };

async function played(
  id: string,
  { seconds, candidateFor }: GradeOptions,
  play: (scene: Scene) => Promise<void>,
): Promise<{ error?: unknown; scene?: Scene }> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(`nothing more came within ${seconds} s`), seconds * 1000);
  let scene: Scene | undefined;
  try {
    scene = await Scene.open(await candidateFor(id), over.signal);
    await play(scene);
    return { scene };
  } catch (error) {
    return { error, ...(scene !== undefined && { scene }) };
  } finally {
    clearTimeout(timer);
    await scene?.close();
  }
}

function outcomeOf(error: unknown, scene: Scene | undefined, needsModel: boolean): Graded {
  if (error === undefined) return { outcome: "pass" };
  const { lacks, asked } = scene?.model ?? { lacks: undefined, asked: [] };
  if (lacks !== undefined) return { outcome: "unknown", why: `The agent offers its model no tool to ${lacks}.` };
  if (!(error instanceof Failed)) return { outcome: "unknown", why: messageOf(error) };
  const { message, lines } = error;
  if (needsModel && asked.length === 0) return { outcome: "unknown", why: `The model was not asked: ${message}`, lines };
  return { outcome: "fail", why: message, lines };
}
