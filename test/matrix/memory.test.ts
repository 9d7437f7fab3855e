/** The same in one process, which is quicker and stops at the first thing that is wrong. */
import { memoryRoom } from "./in-memory.js";
import { playMatrix } from "./play.js";

playMatrix(memoryRoom);
