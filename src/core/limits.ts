/** The limits that several rooms share. Reaching one gives an error or a notice. */

/** Bytes of a line or a frame: 16 MiB. */
export const LINE_CAP = 16 * 1024 * 1024;
/** Bytes of a question to the host, as JSON. A quarter of a line: some wires repeat it, or put JSON into JSON. */
export const QUESTION_BYTES = LINE_CAP / 4;
/** Base64 of the images of one tool result, which must fit a line. */
export const IMAGE_CHARS = 10 * 1024 * 1024;
/** Prompts that may wait behind a turn. */
export const QUEUE_LIMIT = 64;
/** The default seconds that an approval or a host request waits. */
export const ANSWER_SECONDS = 300;
/** Bytes of unread events beyond which their producers wait for the reader. */
export const EVENT_BYTES = 4 * 1024 * 1024;
/** The least weight of an event, so that at most 4,096 events wait unread. */
export const EVENT_WEIGHT = EVENT_BYTES / 4096;
/** Model calls of one turn. */
export const MAX_TURNS = 200;
/** MiB of one answer of a model: text, thinking and arguments together. */
export const ANSWER_MIB = 16;
/** Retries of one model call, and seconds that their waits may take together. */
export const RETRIES = 10;
export const RETRY_SECONDS = 600;
/** Calls in one answer of a model; also in one prompt of a host. */
export const ANSWER_CALLS = 256;
/** Seconds for which the event loop of a command may stand still. */
export const STUCK_SECONDS = 60;
/** Levels of sub-agents below a session's own agent. */
export const NESTING = 1;
/** Characters of a tool's output that go to the model and the host. */
export const OUTPUT_CHARS = 50_000;

/** The longest delay of a timer; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function timerMs(seconds: number): number {
  return Math.min(seconds * 1000, LONGEST_TIMER_MS);
}

/** The time limits of a provider, by the names of the settings. */
export type TimeLimits = {
  connectSeconds: number;
  /** From the request to the first byte of the response body. */
  firstByteSeconds: number;
  /** Between two chunks of the response. */
  idleSeconds: number;
};

/** Models may think for minutes before and between words. */
export const TIME_LIMITS: TimeLimits = { connectSeconds: 10, firstByteSeconds: 300, idleSeconds: 300 };
