/** How each figure is measured. A plan starts one process of a subject, and returns one sample of each of its figures. */
import { median } from "./figures.mjs";
import { serverTime } from "./model.mjs";
import { cpuOf, memoryOf } from "./process-stats.mjs";
import { EXPECTED_OUTPUT, parseScenario } from "./scenarios.mjs";

const TURN = "text 20 20";
const ROUNDS = 20;
const DELTAS = 20_000;

export const PLANS = {
  async start({ session }) {
    const ready = await session.ready();
    const memory = memoryOf(session.pid);
    return { ready: ready - session.started, idlePeak: memory.peak, idleNow: memory.now };
  },

  /** Everything at once and then the end of input, as a script would do it. */
  async "one-shot"({ session, subject, model }) {
    session.open();
    session.prompt(TURN);
    const left = await session.leave();
    const records = session.records();
    const ends = records.filter((record) => JSON.stringify(record).includes(subject.end));
    if (ends.length !== 1) throw new Error(`${subject.name} wrote ${ends.length} ends of its only turn before it left`);
    return { oneShot: left - session.started - serverTime(await model.timings()) };
  },

  async turn(run) {
    await run.session.ready();
    const firstTurn = await overheadOf(run, TURN);
    await repeat(10, () => overheadOf(run, TURN));
    const warm = await repeat(20, () => overheadOf(run, TURN));
    const delays = await repeat(10, () => firstDeltaOf(run));
    return { firstTurn, warmTurn: median(warm), firstDelta: median(delays) };
  },

  async tools(run) {
    await run.session.ready();
    await overheadOf(run, "tools read 2");
    await overheadOf(run, "tools bash 2");
    const readRound = (await overheadOf(run, `tools read ${ROUNDS}`)) / ROUNDS;
    const bashRound = (await overheadOf(run, `tools bash ${ROUNDS}`)) / ROUNDS;
    return { readRound, bashRound };
  },

  async burst(run) {
    const { pid } = run.session;
    await run.session.ready();
    await overheadOf(run, TURN);
    const before = cpuOf(pid);
    const { from, to } = await checkedTurn(run, `text ${DELTAS} 8`);
    const after = cpuOf(pid);
    const memory = memoryOf(pid);
    const burstCpu = before === undefined || after === undefined ? undefined : after - before;
    return { burstWall: to - from, burstRate: (DELTAS / (to - from)) * 1000, burstCpu, burstPeak: memory.peak, burstNow: memory.now };
  },

  /** The median of eleven turns around each mark. */
  async history(run) {
    await run.session.ready();
    const overheads = await repeat(505, () => overheadOf(run, TURN));
    return { turn50: median(overheads.slice(44, 55)), turn500: median(overheads.slice(494, 505)) };
  },
};

/** Wall time from the prompt to the end of the turn, less what the model server itself took. */
async function overheadOf(run, prompt) {
  const { from, to } = await checkedTurn(run, prompt);
  return to - from - serverTime(await run.model.timings());
}

async function firstDeltaOf(run) {
  const { firstDelta } = await checkedTurn(run, "text 5 20 3");
  const [timing] = await run.model.timings();
  return firstDelta - timing.first;
}

/** A turn that did not do its work is no measurement. */
async function checkedTurn({ session, subject }, prompt) {
  const turn = await session.turn(prompt);
  const { pieces, tool, rounds } = parseScenario(prompt);
  const { deltas, text, tools } = turn.said;
  if (deltas.length !== pieces.length) fail(`${deltas.length} deltas instead of ${pieces.length}`);
  const wrong = deltas.findIndex((delta, index) => delta !== pieces[index]);
  if (wrong !== -1) fail(`as delta ${wrong} ${JSON.stringify(deltas[wrong])} instead of ${JSON.stringify(pieces[wrong])}`);
  if (text !== pieces.join("")) fail("a final text that is not its deltas");
  if (tools.length !== rounds) fail(`${tools.length} tool results instead of ${rounds}`);
  for (const { name, output } of tools) {
    if (name !== tool.name || output !== EXPECTED_OUTPUT[name]) fail(`as the result of ${name} ${JSON.stringify(output.slice(0, 200))}`);
  }
  return turn;

  function fail(what) {
    throw new Error(`${subject.name} gave ${what} for '${prompt}'`);
  }
}

async function repeat(times, work) {
  const results = [];
  for (let count = 0; count < times; count++) results.push(await work());
  return results;
}
