/**
 * The rehearsal model: deterministic, offline, free. It follows a script, or plain orders in the prompt, and calls the real tools.
 * A script's position belongs to the model, so sub-agents share it; plain orders are read from the messages and need no state.
 */
import type { Message, Model, ModelPart, ModelRequest } from "../model.js";
import { expectationFailed, providerError } from "./faults.js";
import { mismatch } from "./expect.js";
import { play } from "./play.js";
import type { Response } from "./response.js";
import { loadScript, type Play, type Scene } from "./script.js";
import { streamResponse } from "./stream.js";
import { tokenCounter } from "./tokens.js";

export { describeOrders } from "./orders.js";

/** The script and the name of a rehearsed model. */
export interface RehearsalOptions {
  /** The path of a YAML or JSON file; without it the model obeys plain orders. */
  script?: string;
  /** The model's name without a script. */
  name?: string;
  /** Cuts text at odd places, the same for the same seed, to find hosts that rely on whole words. */
  seed?: number;
}

/** The model that follows a script or plain orders: deterministic, offline and free. */
export async function openRehearsal(options: RehearsalOptions): Promise<Model> {
  const next = options.script === undefined ? obey() : follow(await loadScript(options.script));
  const inputTokens = tokenCounter();
  let calls = 0;
  const nextId = () => `call_${++calls}`;

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart[]> {
    if (signal.aborted) return;
    const streaming = { nextId, inputTokens: inputTokens(request.messages), ...(options.seed !== undefined && { seed: options.seed }) };
    for await (const part of streamResponse(next(request), streaming, signal)) yield [part];
  }
  return {
    provider: "rehearsal",
    id: options.script ?? options.name ?? "rehearsal",
    thinking: true,
    images: true,
    contextLimit: 200_000,
    stream,
  };
}

type Next = (request: ModelRequest) => Response;

/** Counts the failures of each prompt, for "fail twice"; the model remembers nothing else. */
function obey(): Next {
  const failed = new WeakMap<Message, number>();
  return (request) => {
    const response = play(request);
    const order = request.messages.findLast((message) => message.role === "user");
    const times = response.outputs.find((output) => output.type === "fail")?.failure.times;
    if (order === undefined || times === undefined) return response;
    const before = failed.get(order) ?? 0;
    failed.set(order, before + 1);
    return before < times ? response : { ...response, outputs: response.outputs.filter((output) => output.type !== "fail") };
  };
}

const THE_END: Response = { outputs: [{ type: "say", speech: "(end of the script)" }] };

function follow({ scenes, then }: Play): Next {
  const orders = obey();
  let cursor = 0;
  let failing: { scene: Scene; count: number; request: string } | undefined;

  return (request) => {
    const retried = failing;
    failing = undefined;
    const scene = retried !== undefined && goesOn(retried, request) ? retried.scene : nextScene();
    if (scene === undefined) return then === "orders" ? orders(request) : THE_END;
    const problem = scene.expect === undefined ? undefined : mismatch(scene.expect, request);
    if (problem !== undefined) throw expectationFailed(problem);
    const count = scene === retried?.scene ? retried.count : 0;
    if (scene.fail === undefined || count >= (scene.fail.times ?? Infinity)) return scene.response;
    failing = { scene, count: count + 1, request: outline(request) };
    throw providerError(scene.fail);
  };

  function nextScene(): Scene | undefined {
    if (cursor === scenes.length && then === "repeat") cursor = 0;
    return cursor < scenes.length ? scenes[cursor++] : undefined;
  }
}

/** A counted failure goes on until it is used up; an uncounted one for as long as the same request is tried again. */
function goesOn(failing: { scene: Scene; request: string }, request: ModelRequest): boolean {
  return failing.scene.fail?.times !== undefined || failing.request === outline(request);
}

/** Enough of a request to tell a retry from the next one. */
function outline({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  return `${messages.length} ${JSON.stringify(last?.role === "user" ? last.parts : last)}`;
}
