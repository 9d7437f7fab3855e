/** Gemini's streamGenerateContent: how an answer is streamed. */
import type { Frame, Played, Reply } from "./script.js";

export function playGemini(reply: Reply, count: number): Played {
  const { input = 10, cacheRead = 0, output = 5, reasoning = 0 } = reply.usage ?? {};
  const counted = (written: number): unknown => ({
    promptTokenCount: input + cacheRead,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    candidatesTokenCount: written,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: input + cacheRead + written + reasoning,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: input + cacheRead }],
  });
  const rest = { modelVersion: "gemini", responseId: `resp_${count}` };
  if (reply.blocked !== undefined) {
    return {
      opening: [],
      output: [],
      ending: [{ data: { promptFeedback: { blockReason: reply.blocked }, usageMetadata: counted(0), ...rest } }],
    };
  }
  const grounding = reply.searched === undefined ? {} : { groundingMetadata: groundingOf(reply.searched) };
  const chunk = (parts: unknown[], finishReason?: string): Frame => ({
    data: {
      candidates: [{ content: { parts, role: "model" }, ...(finishReason !== undefined && { finishReason, ...grounding }), index: 0 }],
      usageMetadata: counted(finishReason === undefined ? 1 : output),
      ...rest,
    },
  });
  const pieces = [...thoughts(reply), ...texts(reply)];
  const calls = callParts(reply);
  const signed = reply.signature !== undefined && reply.text !== undefined;
  return {
    opening: [chunk([{ text: "" }])],
    // All calls come at once, as this vendor's mostly do.
    output: [...pieces.map((part) => chunk([part])), ...(calls.length > 0 ? [chunk(calls)] : [])],
    ending: [chunk([{ text: "", ...(signed && { thoughtSignature: `${reply.signature}-text` }) }], reply.stop ?? "STOP")],
  };
}

function groundingOf({ query, url, title }: NonNullable<Reply["searched"]>): unknown {
  return { webSearchQueries: [query], groundingChunks: [{ web: { uri: url, title } }], groundingSupports: [] };
}

/** A signature stands with the last of the thoughts, with the first of the calls, and behind the text. */
function thoughts({ thinking = [], signature }: Reply): unknown[] {
  return thinking.map((text, at) => ({
    text,
    thought: true,
    ...(signature !== undefined && at === thinking.length - 1 && { thoughtSignature: `${signature}-thought` }),
  }));
}

function texts({ text = [] }: Reply): unknown[] {
  return text.map((piece) => ({ text: piece }));
}

/** Arguments come whole. Arguments that are no JSON come as a text, as only a server in front of this vendor's could send them. */
function callParts({ calls = [], signature }: Reply): unknown[] {
  return calls.map(({ id, name: called, args }, at) => ({
    functionCall: { ...(id !== undefined && { id }), name: called, args: Array.isArray(args) ? args.join("") : args },
    ...(signature !== undefined && at === 0 && { thoughtSignature: `${signature}-call` }),
  }));
}
