/** The host's end of the wire. */
import { ParleyError } from "../../core/errors.js";
import type { Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Side } from "../dialect.js";

export function hostSide(): Side<Event, Op> {
  throw new ParleyError({ code: "unsupported", message: "Driving agents of Qwen's RFC is not there yet", retryable: false });
}
