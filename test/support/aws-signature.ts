/** AWS Signature Version 4, checked as AWS checks it: the whole of it is computed again from the request and the secret key. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Asked, ScriptedError } from "./model-server-script.js";

export const ACCESS_KEY_ID = "AKIAIOSFODNN7EXAMPLE";
export const REGION = "eu-central-1";
const LATEST_MS = 5 * 60_000;

/** Why AWS would refuse the request; undefined when the signature holds, or the bearer is `secret` itself. */
export function awsDenial(asked: Asked, secret: string): ScriptedError | undefined {
  const { authorization = "" } = asked.headers;
  if (authorization === `Bearer ${secret}`) return undefined;
  if (authorization.startsWith("Bearer ")) return denied("AccessDeniedException", `invalid key ${authorization.slice(7)}`);
  const [, id, date, region, service, names, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ?? [];
  if (!id || !date || !names || !signature) return denied("MissingAuthenticationTokenException", "Missing Authentication Token");
  if (id !== ACCESS_KEY_ID) return denied("UnrecognizedClientException", "The security token included in the request is invalid.");
  if (region !== REGION || service !== "bedrock") {
    return denied("InvalidSignatureException", `Credential should be scoped to ${REGION} and bedrock, not ${region} and ${service}`);
  }
  const at = one(asked, "x-amz-date");
  const skew = Math.abs(Date.now() - Date.parse(at.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, "$1-$2-$3T$4:$5:$6Z")));
  if (!at.startsWith(date) || !(skew < LATEST_MS)) return denied("InvalidSignatureException", "Signature expired");
  const signed = names.split(";");
  const unsigned = ["host", ...Object.keys(asked.headers).filter((name) => name.startsWith("x-amz-"))].find(
    (name) => !signed.includes(name),
  );
  if (unsigned !== undefined)
    return denied("InvalidSignatureException", `'${unsigned}' must be a 'SignedHeader' in the AWS Authorization.`);
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", at, scope, sha256(canonical(asked, signed))].join("\n");
  const key = [date, region, service, "aws4_request"].reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${secret}`);
  if (timingSafeEqual(hmac(key, toSign), Buffer.from(signature, "hex"))) return undefined;
  return denied("InvalidSignatureException", "The request signature we calculated does not match the signature you provided.");
}

function canonical(asked: Asked, signed: readonly string[]): string {
  const [path = "", query = ""] = asked.path.split("?");
  const headers = signed.map((name) => `${name}:${one(asked, name).trim().replaceAll(/\s+/g, " ")}\n`).join("");
  // Every service but S3 encodes a path that is encoded already.
  const twice = path
    .split("/")
    .map((part) => encodeURIComponent(part).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`))
    .join("/");
  return [asked.method, twice, query, headers, signed.join(";"), sha256(asked.bytes)].join("\n");
}

/** A proxy that passes a request on says which host was asked. */
function one({ headers }: Asked, name: string): string {
  return [name === "host" ? (headers["x-forwarded-host"] ?? headers.host) : headers[name]].flat()[0] ?? "";
}

function denied(type: string, message: string): ScriptedError {
  return { status: 403, type, message };
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}
