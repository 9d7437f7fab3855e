import { describe, expect, test } from "vitest";
import { ParleyError, type Fault } from "../../../core/errors.js";
import { vendorFault } from "./fault.js";

describe("a conversation that does not fit, as each vendor says it", () => {
  test.each([
    [400, { type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 212049 tokens > 200000 maximum" } }],
    [400, { error: { message: "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease either" } }],
    [413, { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } }],
    [400, { error: { message: "Your input is too much", type: "invalid_request_error", code: "context_length_exceeded" } }],
    [
      400,
      { error: { message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens." } },
    ],
    [
      400,
      {
        code: "Client specified an invalid argument",
        error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      },
    ],
    [
      400,
      {
        error: {
          code: 400,
          message: "This endpoint's maximum context length is 163840 tokens. However, you requested about 200000 tokens",
        },
      },
    ],
    [
      400,
      {
        error: {
          code: 400,
          status: "INVALID_ARGUMENT",
          message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        },
      },
    ],
    [400, { message: "Input is too long for requested model." }],
    [
      400,
      {
        error: {
          code: 400,
          type: "exceed_context_size_error",
          message: "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        },
      },
    ],
  ])("%i %j", (statusCode, body) => {
    const fault = faultOf({ message: "Bad Request", statusCode, responseBody: JSON.stringify(body) });
    expect(fault).toMatchObject({ code: "context_overflow", status: statusCode, retryable: false });
  });

  test("within a stream, where no status tells it", () => {
    expect(faultOf({ code: "context_length_exceeded", message: "Your input exceeds the context window of this model." })).toMatchObject({
      code: "context_overflow",
    });
  });
});

test.each([
  [400, "max_tokens: must be at least 1"],
  [429, "Too many tokens; the maximum context length is not the problem"],
  [500, "prompt is too long for this log line"],
])("something else: %i %s", (statusCode, message) => {
  expect(faultOf({ message, statusCode })).toMatchObject({ code: "provider" });
});

function faultOf(thrown: unknown): Fault {
  const error = vendorFault(thrown, { provider: "acme" }, false);
  if (!(error instanceof ParleyError)) throw new Error("No fault was made of it");
  return error.fault;
}
