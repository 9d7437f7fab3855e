/** Recognises the errors by which vendors refuse a picture: the same request would always be refused. */

const WORDS = new RegExp(
  [
    "could not process image", // Anthropic
    "image exceeds|image dimensions exceed|image .*exceeds? .*(?:limit|maximum|pixels)", // Anthropic, Bedrock
    "image does not match the provided media type", // Anthropic
    "image was specified using the .* media type", // Anthropic
    "unable to process (?:the )?(?:input )?image|provided image is not valid", // Gemini
    "invalid[_ ]image|image[_ ]parse[_ ]error|unsupported image|image data you provided|image_too_", // OpenAI
    "failed to (?:load|decode|process) (?:the )?image|invalid base64 image", // llama-server, vLLM, xAI
    "image (?:input|format|type|size|is) .*(?:not supported|unsupported|invalid|too (?:large|big|small))",
    "(?:model|endpoint).*(?:does not|doesn't|not) support.*image",
    "no endpoints found that support image", // OpenRouter
  ].join("|"),
  "i",
);

/** The statuses of an invalid request; within a stream there is none. */
const STATUS: ReadonlySet<number | undefined> = new Set([400, 404, 415, 422, undefined]);

export function isImageRefusal(status: number | undefined, message: string): boolean {
  return STATUS.has(status) && WORDS.test(message);
}
