/** Fits a request to the abilities of its model: a note reports each part that is left out. */
import { textPart, type Part } from "../../../core/content.js";
import type { ModelFacts } from "../facts.js";
import type { Message, ModelRequest } from "../model.js";

interface Fitting {
  request: ModelRequest;
  notes: string[];
}

export function fitRequest(request: ModelRequest, model: { id: string; facts: ModelFacts }): Fitting {
  const steps = [withinOutput, withoutThinking, withoutImages];
  return steps.reduce<Fitting>(
    (fitting, step) => {
      const fitted = step(fitting.request, model.facts);
      if (fitted === undefined) return fitting;
      return { request: fitted.request, notes: [...fitting.notes, `${model.id} ${fitted.note}`] };
    },
    { request: withThinking(request, model.facts), notes: [] },
  );
}

/**
 * A model that thinks decides the amount itself by default. Then it usually refuses sampling settings, so a
 * request that has some is left alone.
 */
function withThinking(request: ModelRequest, { thinking: thinks, unknown }: ModelFacts): ModelRequest {
  const { thinking, thinkingBudget, temperature, topP, topK } = request;
  const isSaid = [thinking, thinkingBudget, temperature, topP, topK].some((value) => value !== undefined);
  return isSaid || !thinks || unknown === true ? request : { ...request, thinking: "enabled" };
}

/** Undefined if all of it fits. */
type Fit = (request: ModelRequest, facts: ModelFacts) => { request: ModelRequest; note: string } | undefined;

const withinOutput: Fit = (request, { output }) => {
  if (output === undefined || request.maxTokens === undefined || request.maxTokens <= output) return undefined;
  const note = `answers with at most ${output} tokens; maxTokens ${request.maxTokens} was cut to that`;
  return { request: { ...request, maxTokens: output }, note };
};

const withoutThinking: Fit = (request, { thinking: thinks }) => {
  if (thinks) return undefined;
  const { thinking, thinkingBudget, effort, ...rest } = request;
  const isWished = (thinking !== undefined && thinking !== "disabled") || (thinkingBudget ?? 0) > 0 || effort !== undefined;
  return isWished ? { request: rest, note: "does not think; the wish for it was left out" } : undefined;
};

const withoutImages: Fit = (request, { images }) => {
  const sees = request.images ?? images;
  if (sees || !request.messages.some(hasImage)) return undefined;
  return { request: { ...request, messages: request.messages.map(blind) }, note: "takes no images; they were left out" };
};

function hasImage(message: Message): boolean {
  if (message.role === "user") return message.parts.some(isImage);
  return message.role === "tool" && message.results.some(({ parts }) => parts.some(isImage));
}

function isImage(part: Part): boolean {
  return part.type === "image";
}

function blind(message: Message): Message {
  if (message.role === "user") return { role: "user", parts: message.parts.map(worded) };
  if (message.role === "assistant") return message;
  return { role: "tool", results: message.results.map((result) => ({ ...result, parts: result.parts.map(worded) })) };
}

function worded(part: Part): Part {
  return part.type === "image" ? textPart("(An image was left out: this model takes none)") : part;
}
