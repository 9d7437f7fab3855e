/** What a vendor's failure means to us: status, whether another try makes sense, and words that say which key to check. */
import { messageOf, ParleyError, systemCode } from "../../core/errors.js";

interface ApiError {
  message: string;
  statusCode?: unknown;
  isRetryable?: unknown;
  responseHeaders?: unknown;
  cause?: unknown;
}

const NETWORK = new Set(["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "ETIMEDOUT", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_CONNECT_TIMEOUT"]);

export function vendorFault(thrown: unknown, vendor: { provider: string; keyVariable?: string }): unknown {
  if (thrown instanceof ParleyError || (thrown instanceof Error && thrown.name === "AbortError")) return thrown;
  const error: ApiError = thrown instanceof Error ? thrown : { message: messageOf(thrown) };
  const status = typeof error.statusCode === "number" ? error.statusCode : undefined;
  const retryAfter = retryAfterOf(error.responseHeaders);
  const lost = status === undefined && isNetwork(thrown);
  return new ParleyError(
    {
      code: "provider",
      message: words(error, status, lost, vendor),
      retryable: lost || status === 429 || status === 408 || (status !== undefined && status >= 500),
      ...(status !== undefined && { status }),
      ...(retryAfter !== undefined && { retryAfter }),
    },
    { cause: thrown },
  );
}

function words(
  error: ApiError,
  status: number | undefined,
  lost: boolean,
  { provider, keyVariable }: { provider: string; keyVariable?: string },
): string {
  if (lost) return `The connection to ${provider} failed: ${causeOf(error)}`;
  const said = `${provider} answered${status === undefined ? "" : ` ${status}`}: ${error.message}`;
  return (status === 401 || status === 403) && keyVariable !== undefined ? `${said} (check ${keyVariable})` : said;
}

function isNetwork(thrown: unknown): boolean {
  for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
    if (NETWORK.has(systemCode(error) ?? "") || error.message === "fetch failed" || error.message === "terminated") return true;
  }
  return false;
}

function causeOf(error: ApiError): string {
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

function retryAfterOf(headers: unknown): number | undefined {
  if (typeof headers !== "object" || headers === null || !("retry-after" in headers)) return undefined;
  const value = Number(headers["retry-after"]);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
