/**
 * Property tests draw the same cases in each run, so that a commit passes or fails for good. `PARLEY_TEST_SEED=N` draws others, and
 * `PARLEY_TEST_SEED=random` others each time.
 */
import fc from "fast-check";

const SEED = 20_261_119;
const asked = process.env["PARLEY_TEST_SEED"];
if (asked !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: asked === undefined ? SEED : Number(asked) });
