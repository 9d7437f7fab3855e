/** Claude on Bedrock (InvokeModelWithResponseStream): Anthropic's messages, with Bedrock's fields around them, in AWS's frames. */
import * as v from "valibot";
import { awsEvent, awsException, FRAMES_TYPE } from "./aws-frames.js";
import { awsDenial } from "./aws-signature.js";
import { anthropicWire } from "./model-server-anthropic.js";
import type { Frame, WireSpec } from "./model-server-script.js";

/** The rest is Anthropic's. Its own API has the model and the streaming in the body, and Bedrock refuses them there. */
const Request = v.looseObject({
  anthropic_version: v.literal("bedrock-2023-05-31"),
  anthropic_beta: v.optional(v.pipe(v.array(v.string()), v.minLength(1))),
  model: v.optional(v.never("extraneous key [model] is not permitted")),
  stream: v.optional(v.never("extraneous key [stream] is not permitted")),
  tools: v.optional(
    v.array(v.looseObject({ eager_input_streaming: v.optional(v.never("extraneous key [eager_input_streaming] is not permitted")) })),
  ),
});

/** What the models may be asked for beside what they all have. */
const BETAS: Readonly<Record<string, RegExp>> = {
  "fine-grained-tool-streaming-2025-05-14": /-4-[56]|-4-1|-4-2025/,
  "structured-outputs-2025-11-13": /sonnet-4-5|opus-4-[156]/,
  "effort-2025-11-24": /opus-4-5/,
  "interleaved-thinking-2025-05-14": /-4-[156]|-4-2025/,
};

function problem(body: unknown, issued: ReadonlySet<string>, path: string): string | undefined {
  const parsed = v.safeParse(Request, body);
  if (!parsed.success) return `Malformed input request: #/${v.getDotPath(parsed.issues[0]) ?? ""}: ${parsed.issues[0].message}`;
  const { anthropic_version: _version, anthropic_beta: betas = [], ...rest } = parsed.output;
  if (betas.some((beta) => BETAS[beta]?.test(path) !== true && !path.includes("application-inference-profile"))) return "invalid beta flag";
  return anthropicWire.problem({ ...rest, model: "claude", stream: true }, issued, path);
}

function chunk(frame: Frame): Frame {
  if ("bytes" in frame) return frame;
  const text = JSON.stringify(
    frame.event === "message_stop" ? { type: "message_stop", "amazon-bedrock-invocationMetrics": {} } : frame.data,
  );
  // Padding of a random length hides how long a piece is.
  return { bytes: awsEvent("chunk", { bytes: Buffer.from(text).toString("base64"), p: "abcdefgh".slice(text.length % 8) }) };
}

export const bedrockClaudeWire: WireSpec = {
  path: (path) => /^\/model\/[^/:]*(?:anthropic\.claude|application-inference-profile)[^/:]*\/invoke-with-response-stream$/.test(path),
  contentType: FRAMES_TYPE,
  keyIn: () => null,
  denial: awsDenial,
  problem,
  play(reply, count, body) {
    const { opening, output, ending } = anthropicWire.play(reply, count, body);
    return { opening: opening.map(chunk), output: output.map(chunk), ending: ending.map(chunk) };
  },
  errorFrame: ({ type, message }) => ({ bytes: awsException(type, message) }),
  errorBody: ({ message }) => ({ message }),
  errorHeaders: ({ type }) => ({ "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` }),
};
