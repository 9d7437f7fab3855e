/** The bounds that more than one room keeps. Each has an error or a notice that says so when it is reached. */

/** Bytes of a line or a frame: 16 MiB. */
export const LINE_CAP = 16 * 1024 * 1024;
/** Bytes of a question to the host, as JSON. A quarter of a line: some wires say a thing twice, or as JSON within JSON. */
export const QUESTION_BYTES = LINE_CAP / 4;
/** Base64 of the images of one tool result: a line has to hold them, whole. */
export const IMAGE_CHARS = 10 * 1024 * 1024;
/** Prompts that may wait behind a turn. */
export const QUEUE_LIMIT = 64;
/** Seconds that an approval or a host request waits when nobody says otherwise. */
export const ANSWER_SECONDS = 300;
/** Unread events, in bytes, before whoever makes them waits for the reader. */
export const EVENT_BYTES = 4 * 1024 * 1024;
/** The least that an event counts for, so that at most 4,096 events wait unread. */
export const EVENT_WEIGHT = EVENT_BYTES / 4096;
/** Model calls of one turn. */
export const MAX_TURNS = 200;
/** MiB of one answer of a model: text, thinking and arguments together. */
export const ANSWER_MIB = 16;
/** Further tries of one answer of a model, and seconds that their waits take in all. */
export const RETRIES = 10;
export const RETRY_SECONDS = 600;
/** Calls of one answer; a host that asks for calls in the model's place has no more, either. */
export const ANSWER_CALLS = 256;
/** Seconds for which the event loop of a command may stand still. */
export const STUCK_SECONDS = 60;
/** Levels of sub-agents below a session's own agent. */
export const NESTING = 1;
/** Characters of a tool's output that go to the model and the host. */
export const OUTPUT_CHARS = 50_000;

/** The longest delay that a timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function timerMs(seconds: number): number {
  return Math.min(seconds * 1000, LONGEST_TIMER_MS);
}

/** How long a vendor may take, by the names of the settings. */
export type TimeLimits = {
  connectSeconds: number;
  /** From the request to the first byte of the answer's body. */
  firstByteSeconds: number;
  /** From one piece of the answer to the next. */
  idleSeconds: number;
};

/** Models may think for minutes before they say a word, and between two of them. */
export const TIME_LIMITS: TimeLimits = { connectSeconds: 10, firstByteSeconds: 300, idleSeconds: 300 };
