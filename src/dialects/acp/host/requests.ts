/** Requests of ours to a driven agent, each remembered until it is answered. */
import type { Out } from "../../dialect.js";
import { request } from "../wire/rpc.js";
import type { Asked, HostState } from "./state.js";

export function ask(method: string, params: unknown, asked: Asked, state: HostState): Out {
  const id = state.nextId++;
  state.asked.set(id, asked);
  return request(id, method, params);
}
