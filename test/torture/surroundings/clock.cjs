/** Preloaded into the command: the wall clock steps to and fro by hours at every 20th look. `PARLEY_CLOCK_HOURS` is the size of a step. */
const hours = Number(process.env.PARLEY_CLOCK_HOURS);
const real = Date.now;
let looks = 0;
let offset = 0;

Date.now = () => {
  if (++looks % 20 === 0) offset += (looks % 40 === 0 ? -2 : 1) * hours * 3_600_000;
  return real() + offset;
};
