/** Every host dialect against every agent dialect, from the outside: two real processes and the tools that they start. */
import { processRoom } from "./in-processes.js";
import { playMatrix } from "./play.js";

playMatrix(processRoom);
