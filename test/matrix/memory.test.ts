/** Every host dialect against every agent dialect, in one process. */
import { afterAll } from "vitest";
import { memoryRoom, toolsGone } from "./in-memory.js";
import { everyPair } from "./pairs.js";
import { playMatrix } from "./play.js";

playMatrix(everyPair, memoryRoom, { withGrants: true });

afterAll(toolsGone);
