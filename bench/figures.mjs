/** The figures and their aims: the ratio to the floor that each figure should keep below. Nothing here asserts a time. */

/** `rate`: more is better, so the ratio is turned round; 3 always means three times worse than the floor. */
export const FIGURES = [
  { key: "ready", title: "spawn -> ready", unit: "ms", aim: 2 },
  { key: "idlePeak", title: "idle: peak RSS", unit: "MB", aim: 1.6 },
  { key: "idleNow", title: "idle: RSS now", unit: "MB" },
  { key: "oneShot", title: "one-shot: spawn -> exit, overhead", unit: "ms", aim: 2 },
  { key: "firstTurn", title: "first turn, overhead", unit: "ms" },
  { key: "warmTurn", title: "warm turn, overhead", unit: "ms", aim: 3 },
  { key: "firstDelta", title: "model's first byte -> first delta", unit: "ms", aim: 2 },
  { key: "readRound", title: "tool round, Read", unit: "ms", aim: 3 },
  { key: "bashRound", title: "tool round, Bash", unit: "ms", aim: 1.5 },
  { key: "burstWall", title: "20,000 deltas: wall", unit: "ms" },
  { key: "burstRate", title: "20,000 deltas: events/s", unit: "/s", aim: 3, rate: true },
  { key: "burstCpu", title: "20,000 deltas: CPU", unit: "ms", aim: 3 },
  { key: "burstPeak", title: "after 20,000 deltas: peak RSS", unit: "MB", aim: 1.7 },
  { key: "burstNow", title: "after 20,000 deltas: RSS now", unit: "MB" },
  { key: "turn50", title: "turn at 50 turns of history", unit: "ms" },
  { key: "turn500", title: "turn at 500 turns of history", unit: "ms", aim: 2 },
];

/** Samples of both into one line of the table; a figure that one of them could not give has no ratio. */
export function summarize(figure, floor, parley) {
  const [base, ours] = [spread(floor, figure.rate), spread(parley, figure.rate)];
  const ratio = base === undefined || ours === undefined ? undefined : figure.rate ? base.median / ours.median : ours.median / base.median;
  const met = figure.aim === undefined || ratio === undefined ? undefined : ratio <= figure.aim;
  return { ...figure, floor: base, parley: ours, ratio, met };
}

export function spread(samples, rate = false) {
  const sorted = samples.filter((sample) => sample !== undefined).sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  return { median: median(sorted), best: rate ? sorted.at(-1) : sorted[0], samples };
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
