/** The RFC's wire: one JSON object a line. `type` tells what a line is; without it `object`, `error`, `input` or `messages` does. */
export const VERSION = "1";
/** On the wire it is a number. */
export const PROTOCOL_VERSION = 1;

export * from "./wire-events.js";
export * from "./wire-ops.js";
