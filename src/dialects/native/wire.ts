/** The native wire: our ops and events as they are, one JSON object a line. */
import { Event } from "../../core/event.js";
import { Op } from "../../core/op.js";

export const wire = { op: Op, event: Event } as const;

/** Follows the vocabulary: a new type or field is a minor step, a changed one a major. */
export const VERSION = "2.0.0";
