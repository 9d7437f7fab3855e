/** The numbers of events over the restarts of a session: each run begins at the next multiple of 2^20. */
const STEP = 2 ** 20;

/** The first number of a run after one that used numbers up to `used`. */
export function nextSeq(used: number): number {
  return (Math.floor(used / STEP) + 1) * STEP;
}
