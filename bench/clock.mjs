/** Milliseconds of the system's monotonic clock, which every process on the machine shares. */
export function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}
