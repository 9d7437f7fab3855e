/** Commands and suggestions over the native dialect: ask, and get the reply. */
import * as v from "valibot";
import { CommandReply, SuggestReply } from "../../src/core/command.js";
import type { EventOf } from "../../src/core/event.js";
import { mintId } from "../../src/core/ids.js";
import type { OpOf } from "../../src/core/op.js";
import type { NativeHost } from "../process/harness.js";

async function replyTo(host: NativeHost, id: string): Promise<EventOf<"reply">> {
  return host.next("reply", (event) => event.parent === id && event.status !== "loading");
}

/** The reply as it is, fault and all. */
export async function tryCommand(host: NativeHost, name: string, args?: string): Promise<EventOf<"reply">> {
  const id = mintId();
  host.send({ type: "turn.prompt", id, session: "s", parts: [], command: { name, ...(args !== undefined && { args }) } });
  return replyTo(host, id);
}

export async function command(host: NativeHost, name: string, args?: string): Promise<CommandReply["result"]> {
  const reply = await tryCommand(host, name, args);
  if (reply.fault !== undefined) throw new Error(reply.fault.message);
  return v.parse(CommandReply, reply.data).result;
}

/** The words of a `message` result. */
export async function told(host: NativeHost, name: string, args?: string): Promise<string> {
  const result = await command(host, name, args);
  return "text" in result ? result.text : "";
}

type Asked = Pick<OpOf<"command.suggest">, "trigger" | "text" | "cursor" | "cancel">;

export async function suggest(host: NativeHost, asked: Asked): Promise<SuggestReply> {
  const id = mintId();
  host.send({ type: "command.suggest", id, session: "s", ...asked });
  return v.parse(SuggestReply, (await replyTo(host, id)).data);
}
