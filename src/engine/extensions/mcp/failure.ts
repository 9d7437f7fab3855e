/** Why something with a server failed, in one line for people. */
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { messageOf, ParleyError } from "../../../core/errors.js";
import { oneLine } from "../../tools/title.js";

const MAX_CHARS = 300;

/** `login` is what to do when the server wants one. */
export function failureText(error: unknown, login: string): string {
  return oneLine(isRefusal(error) ? `it wants a login; ${login}` : reason(error), MAX_CHARS);
}

export function isRefusal(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) return true;
  return httpStatus(error) === 401 || (error instanceof Error && isRefusal(error.cause));
}

export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

export function isDisconnect(error: unknown): boolean {
  return error instanceof SdkError && (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected);
}

/** The status with which a server refused a request, over either of its transports. */
export function httpStatus(error: unknown): number | undefined {
  if (error instanceof SdkHttpError) return error.data.status;
  return error instanceof SseError ? error.code : undefined;
}

function reason(error: unknown): string {
  if (error instanceof ParleyError) return error.message;
  const status = httpStatus(error);
  if (status !== undefined) return `it answered with HTTP ${status}`;
  if (error instanceof ProtocolError) return `it answered: ${error.message}`;
  return fetchFailure(error) ?? messageOf(error);
}

/** The error that fetch throws says nothing; its cause does. */
function fetchFailure(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.cause === undefined) return undefined;
  if (error instanceof TypeError && error.message === "fetch failed") return `it cannot be reached: ${messageOf(error.cause)}`;
  return fetchFailure(error.cause);
}
