/** From the outside: two real processes and the tools that they start, for a sample of the pairs in which every dialect is both. */
import { processRoom } from "./in-processes.js";
import { somePairs } from "./pairs.js";
import { playMatrix } from "./play.js";

playMatrix(somePairs, processRoom, { withGrants: false });
