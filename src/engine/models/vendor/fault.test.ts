import { JSONParseError, TypeValidationError } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { ParleyError, type Fault } from "../../../core/errors.js";
import { BadAnswer } from "../http/event-bytes.js";
import { vendorFault } from "./fault.js";

const VENDOR = { provider: "acme", keyName: "ACME_KEY", secrets: ["sk-0123456789"] };

describe("what the vendor said", () => {
  test.each([
    ['{"type":"error","error":{"type":"api_error","message":"Overheated"}}', "Overheated"],
    ['{"error":{"message":"Overheated","type":null}}', "Overheated"],
    ['{"error":"Overheated"}', "Overheated"],
    ['{"message":"Overheated"}', "Overheated"],
    ['{"detail":"Overheated"}', "Overheated"],
    ["Overheated\n", "Overheated"],
    ["<html><body>Overheated</body></html>", "Server Error"],
    ["", "Server Error"],
    ['{"error":{"message":"key sk-0123456789 is bad"}}', "key [redacted] is bad"],
  ])("%j", (responseBody, said) => {
    expect(faultOf({ message: "Server Error", statusCode: 500, responseBody })).toMatchObject({
      message: `acme answered 500: ${said}`,
      status: 500,
    });
  });

  test("a page is cut", () => {
    expect(faultOf({ statusCode: 500, responseBody: "x".repeat(5_000) }).message).toHaveLength("acme answered 500: ".length + 401);
  });

  test("a key at the cut is masked before it", () => {
    const responseBody = `${"x".repeat(392)}sk-0123456789`;
    expect(faultOf({ statusCode: 500, responseBody }).message).toBe(`acme answered 500: ${"x".repeat(392)}[redacte…`);
  });

  test("nothing at all", () => {
    expect(faultOf({ message: "", statusCode: 503 }).message).toBe("acme answered 503: no explanation was given");
  });
});

describe("whether another try makes sense", () => {
  test.each([
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [402, false],
    [408, true],
    [409, true],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
    [529, true],
  ])("%i: %s", (statusCode, retryable) => {
    expect(faultOf({ message: "no", statusCode })).toMatchObject({ code: "provider", status: statusCode, retryable });
  });

  test("413 is a conversation that is too long", () => {
    expect(faultOf({ message: "no", statusCode: 413 })).toMatchObject({ code: "context_overflow", retryable: false });
  });

  test.each([
    [429, { error: { message: "You exceeded your current quota", type: "insufficient_quota", code: "insufficient_quota" } }],
    [400, { type: "error", error: { type: "invalid_request_error", message: "Your credit balance is too low to access the API" } }],
    [402, { error: { message: "This request requires more credits", code: 402 } }],
  ])("%i: an account that has nothing left is not asked again, and what to do is said", (statusCode, body) => {
    const fault = faultOf({ statusCode, responseBody: JSON.stringify(body) });
    expect(fault.retryable).toBe(false);
    expect(fault.message).toMatch(/\(the account has nothing left to spend: check its plan and billing, or ACME_KEY\)$/);
  });

  test.each([
    ["messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes", 400],
    ["Could not process image", 400],
    ["The image data you provided does not represent a valid image.", 400],
    ["Unable to process input image. Please retry or report", 400],
    ["No endpoints found that support image input", 404],
  ])("a refused image has a code of its own: %s", (message, statusCode) => {
    expect(faultOf({ message, statusCode })).toMatchObject({ code: "image_refused", retryable: false });
  });

  test.each([
    [{ type: "overloaded_error", message: "busy" }, 529, true],
    [{ type: "rate_limit_error", message: "busy" }, 429, true],
    [{ type: "invalid_request_error", message: "no" }, 400, false],
    [{ type: "server_error", code: "rate_limit_exceeded", message: "busy" }, 429, true],
    [{ type: "exotic", code: 502, message: "busy" }, 502, true],
    [{ type: "exotic", code: null, message: "no" }, undefined, false],
  ])("within a stream: %j", (error, status, retryable) => {
    const fault = faultOf(error);
    expect(fault).toMatchObject({ retryable, message: `acme answered${status === undefined ? "" : ` ${status}`}: ${error.message}` });
    expect(fault.status).toBe(status);
  });
});

test.each([
  [{ "retry-after": "7" }, 7],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "1.5" }, 1.5],
  [{ "retry-after-ms": "250", "retry-after": "1" }, 0.25],
  [{ "retry-after-ms": "soon", "retry-after": "1" }, 1],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, undefined],
  [{ "retry-after": "-5" }, undefined],
  [{ "retry-after": "soon" }, undefined],
  [{}, undefined],
])("Retry-After %j", (responseHeaders, retryAfter) => {
  expect(faultOf({ message: "no", statusCode: 429, responseHeaders }).retryAfter).toBe(retryAfter);
});

test("Retry-After as a date to come", () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const { retryAfter } = faultOf({ message: "no", statusCode: 429, responseHeaders: { "retry-after": date } });
  expect(retryAfter).toBeGreaterThan(3_000);
  expect(retryAfter).toBeLessThanOrEqual(3_600);
});

test.each([401, 403])("%i names the place of the key", (statusCode) => {
  expect(faultOf({ message: "no", statusCode }).message).toBe(`acme answered ${statusCode}: no (check ACME_KEY)`);
});

describe("Google's details", () => {
  const body = (details: unknown[]) => JSON.stringify({ error: { code: 400, message: "no", status: "X", details } });

  test("a key that it does not know is a 400", () => {
    const failure = { statusCode: 400, responseBody: body([{ "@type": "ErrorInfo", reason: "API_KEY_INVALID" }]) };
    expect(faultOf(failure).message).toBe("acme answered 400: no (check ACME_KEY)");
    expect(faultOf({ statusCode: 400, responseBody: body([]) }).message).toBe("acme answered 400: no");
  });

  test.each([
    ["13s", 13],
    ["0.250s", 0.25],
    ["soon", undefined],
  ])("the wait in the body: %s", (retryDelay, seconds) => {
    expect(faultOf({ statusCode: 429, responseBody: body([{ "@type": "Help" }, { retryDelay }]) }).retryAfter).toBe(seconds);
  });

  test("a header goes before it", () => {
    const failure = { statusCode: 429, responseHeaders: { "retry-after": "2" }, responseBody: body([{ retryDelay: "13s" }]) };
    expect(faultOf(failure).retryAfter).toBe(2);
  });
});

describe("what is no answer is not tried again, and has no status", () => {
  test.each([
    ["an event that is no JSON", new JSONParseError({ text: "{nope", cause: new Error("bad") }), "{nope"],
    ["an event of no known shape", new TypeValidationError({ value: { type: "zork" }, cause: new Error("bad") }), '{"type":"zork"}'],
  ])("%s, also when the package makes up a status around it", (_, error, what) => {
    const fault = { code: "provider", retryable: false, message: `What acme sent could not be read: ${what}` };
    expect(faultOf(error, true)).toEqual(fault);
    expect(faultOf({ message: error.message, statusCode: 500, responseBody: JSON.stringify(error) })).toEqual(fault);
  });

  test("no HTTP", () => {
    const cause = Object.assign(new Error("Parse Error: Expected HTTP/"), { code: "HPE_INVALID_CONSTANT" });
    const message = "The answer of acme is not HTTP: Parse Error: Expected HTTP/";
    expect(faultOf(new TypeError("fetch failed", { cause }))).toEqual({ code: "provider", retryable: false, message });
  });

  test("no event stream", () => {
    const cause = new BadAnswer("http://127.0.0.1:1/v1", "did not answer with an event stream (text/html); check --base-url");
    const error = Object.assign(new Error("Failed to process successful response", { cause }), { statusCode: 200 });
    const message = "acme at http://127.0.0.1:1/v1 did not answer with an event stream (text/html); check --base-url";
    expect(faultOf(error)).toEqual({ code: "provider", retryable: false, message });
  });
});

describe("lost connections", () => {
  const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

  test("before the answer", () => {
    const error = new Error("Cannot connect to API: read ECONNRESET", { cause: reset });
    expect(faultOf(error)).toEqual({ code: "provider", retryable: true, message: "There was no connection to acme: read ECONNRESET" });
  });

  test("while it answered, also when the package has the status of its beginning", () => {
    const message = "The connection to acme was lost in the middle of its answer";
    expect(faultOf(new TypeError("terminated"), true)).toEqual({ code: "provider", retryable: true, message });
    const wrapped = Object.assign(new Error("Failed to process successful response", { cause: reset }), { statusCode: 200 });
    expect(faultOf(wrapped)).toEqual({ code: "provider", retryable: true, message });
  });
});

test("what is ours, and an abort, pass through", () => {
  const ours = new ParleyError({ code: "config", message: "no" });
  const abort = new DOMException("gone", "AbortError");
  expect(vendorFault(ours, VENDOR, false)).toBe(ours);
  expect(vendorFault(abort, VENDOR, true)).toBe(abort);
});

function faultOf(thrown: unknown, answering = false): Fault {
  const error = vendorFault(thrown, VENDOR, answering);
  if (!(error instanceof ParleyError)) throw new Error("no fault");
  return error.fault;
}
