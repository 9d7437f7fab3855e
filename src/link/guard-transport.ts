/** Wraps a foreign transport: an error that it throws becomes its end, with the error as the reason, and never reaches the caller. */
import { messageOf } from "../core/errors.js";
import type { Transport } from "../core/wire.js";

export function guardTransport(transport: Transport): Transport {
  let reason: string | undefined;
  const remember = (error: unknown): void => {
    reason ??= messageOf(error);
  };
  const close: Transport["close"] = (how) => {
    try {
      transport.close(how);
    } catch (error) {
      remember(error);
    }
  };
  const fail = (error: unknown): void => {
    remember(error);
    close("term");
  };
  return {
    frames: transport.frames,
    isShared: transport.isShared,
    write(records) {
      try {
        return transport.write(records)?.catch(fail);
      } catch (error) {
        return fail(error);
      }
    },
    close,
    closed: transport.closed.catch(remember).then((closed) => ({ ...closed, ...(reason !== undefined && { reason }) })),
  };
}
