import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { SIGNATURE_HEADER, signatureOf, signatureProblem, signedHeaders, TIMESTAMP_HEADER } from "./signature.js";

const secret = "a secret of enough length";
const body = Buffer.from('{"text":"é"}');

test("is HMAC-SHA256 over time, dot and body", () => {
  expect(signatureOf(secret, "1700000000", body)).toBe(
    `v1=${createHmac("sha256", secret).update(`1700000000.${body.toString()}`).digest("hex")}`,
  );
});

test("what we sign is taken; anything else is not", () => {
  const headers = signedHeaders(secret, body.toString());
  const [timestamp = "", signature = ""] = [headers[TIMESTAMP_HEADER], headers[SIGNATURE_HEADER]];
  expect(signatureProblem(secret, timestamp, signature, body)).toBeUndefined();
  expect(signatureProblem("another secret entirely", timestamp, signature, body)).toContain("is not that of this body");
  expect(signatureProblem(secret, timestamp, signature, Buffer.from("{}"))).toContain("is not that of this body");
  expect(signatureProblem(secret, String(Number(timestamp) + 1), signature, body)).toContain("is not that of this body");
  expect(signatureProblem(secret, timestamp, "v1=é", body)).toContain("is not that of this body");
  expect(signatureProblem(secret, timestamp, undefined, body)).toContain("is missing");
  expect(signatureProblem(secret, "soon", signature, body)).toContain("must be the time");
});

test.each([-301, 301])("a right signature %i seconds off is too old, or too new", (seconds) => {
  const timestamp = String(Math.floor(Date.now() / 1000) + seconds);
  expect(signatureProblem(secret, timestamp, signatureOf(secret, timestamp, body), body)).toContain("more than 300 seconds off");
});
