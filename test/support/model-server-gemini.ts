/** Google's generateContent, as far as a coding agent uses it: what a request may hold, and how an answer is streamed. */
import * as v from "valibot";
import { playGemini } from "../../src/check/model/gemini.js";
import type { WireSpec } from "./model-server-script.js";
import { schemaProblem } from "./gemini-schema-check.js";

// --- requests ---

/** What stands for the signature of a call that another model made. */
const NO_SIGNATURE = "skip_thought_signature_validator";

const thoughtSignature = v.optional(v.string());
const Text = v.strictObject({ text: v.pipe(v.string(), v.nonEmpty()), thought: v.optional(v.literal(true)), thoughtSignature });
const Inline = v.strictObject({
  inlineData: v.strictObject({
    mimeType: v.picklist(["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"]),
    data: v.pipe(v.string(), v.base64()),
  }),
});
const name = v.pipe(v.string(), v.regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/));
const Call = v.strictObject({
  functionCall: v.strictObject({ id: v.optional(v.string()), name, args: v.record(v.string(), v.unknown()) }),
  thoughtSignature,
});
const Response = v.strictObject({
  functionResponse: v.strictObject({ id: v.optional(v.string()), name, response: v.record(v.string(), v.unknown()) }),
});

const Content = v.variant("role", [
  v.strictObject({ role: v.literal("user"), parts: v.pipe(v.array(v.union([Text, Inline, Response])), v.minLength(1)) }),
  v.strictObject({ role: v.literal("model"), parts: v.pipe(v.array(v.union([Text, Call])), v.minLength(1)) }),
]);
type Content = v.InferOutput<typeof Content>;

const Request = v.strictObject({
  contents: v.pipe(v.array(Content), v.minLength(1)),
  systemInstruction: v.optional(v.strictObject({ parts: v.array(v.strictObject({ text: v.string() })) })),
  tools: v.optional(
    v.array(
      v.union([
        v.strictObject({
          functionDeclarations: v.array(v.strictObject({ name, description: v.string(), parameters: v.optional(v.unknown()) })),
        }),
        v.strictObject({ googleSearch: v.strictObject({}) }),
      ]),
    ),
  ),
  generationConfig: v.strictObject({
    maxOutputTokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
    temperature: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(2))),
    topP: v.optional(v.number()),
    stopSequences: v.optional(v.pipe(v.array(v.string()), v.maxLength(5))),
    thinkingConfig: v.optional(
      v.union([
        v.strictObject({ thinkingBudget: v.pipe(v.number(), v.integer()), includeThoughts: v.optional(v.boolean()) }),
        v.strictObject({ thinkingLevel: v.picklist(["minimal", "low", "medium", "high"]), includeThoughts: v.optional(v.boolean()) }),
        v.strictObject({ includeThoughts: v.boolean() }),
      ]),
    ),
  }),
});

function problem(body: unknown, issued: ReadonlySet<string>): string | undefined {
  const parsed = v.safeParse(Request, body);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    return `Invalid JSON payload received. ${v.getDotPath(issue) ?? "body"}: ${issue.message}`;
  }
  const { contents, tools = [] } = parsed.output;
  if (contents[0]?.role !== "user" || contents.at(-1)?.role !== "user") return "contents: the user has the first word and the last";
  const declarations = tools.flatMap((tool) => ("functionDeclarations" in tool ? tool.functionDeclarations : []));
  const schemas = declarations.map((tool) => schemaProblem(tool.parameters, `${tool.name}.parameters`));
  const calls = contents.map((content, at) => pairing(content, contents[at + 1]) ?? signatures(content, issued));
  return [...schemas, ...calls].find((found) => found !== undefined);
}

function pairing(content: Content, next: Content | undefined): string | undefined {
  const called = content.parts.flatMap((part) => ("functionCall" in part ? [part.functionCall] : []));
  const answered = next?.parts.flatMap((part) => ("functionResponse" in part ? [part.functionResponse] : [])) ?? [];
  const names = (all: readonly { id?: string | undefined; name: string }[]): string => JSON.stringify(all.map((one) => [one.id, one.name]));
  if (names(called) === names(answered)) return undefined;
  return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
}

function signatures({ parts }: Content, issued: ReadonlySet<string>): string | undefined {
  for (const part of parts) {
    const signature = "thoughtSignature" in part ? part.thoughtSignature : undefined;
    if (signature === undefined || signature === NO_SIGNATURE) continue;
    if (!issued.has(signature.replace(/-(thought|text|call)$/, ""))) return "Corrupted thought signature.";
  }
  return undefined;
}

/** Vertex AI has no field for the id of a call. */
function vertexProblem(body: unknown, issued: ReadonlySet<string>): string | undefined {
  if (/"function(Call|Response)":\{"id"/.test(JSON.stringify(body))) return 'Unknown name "id" at function_call: Cannot find field.';
  return problem(body, issued);
}

const STATUS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

export const geminiWire: WireSpec = {
  path: (path) => /^\/v1beta\/models\/[\w.-]+:streamGenerateContent\?alt=sse$/.test(path),
  keyIn: (headers) => [headers["x-goog-api-key"]].flat()[0],
  problem,
  play: playGemini,
  errorFrame: ({ type, message }) => ({ data: { error: { code: 503, message, status: type } } }),
  errorBody: ({ status, message }) => ({ error: { code: status, message, status: STATUS[status] ?? "UNKNOWN" } }),
};

export const vertexGeminiWire: WireSpec = {
  ...geminiWire,
  path: (path) =>
    /^\/v1\/projects\/project-1\/locations\/europe-west4\/publishers\/google\/models\/[\w.-]+:streamGenerateContent\?alt=sse$/.test(path),
  keyIn: ({ authorization, ...headers }) => ("x-goog-api-key" in headers ? undefined : authorization?.replace(/^Bearer /, "")),
  asksForToken: true,
  problem: vertexProblem,
};
