/** Slash commands in a message: an answer by `info` and an end, no stream and no model call; what is none is a prompt. */
import { describe, expect, it } from "vitest";
import { ready, type AionrsHost } from "../aionrs/host.js";

const infos = (host: AionrsHost): string =>
  host
    .of("info")
    .map(({ message }) => message)
    .join("\n");

describe.each(["wayland", "aionrs@0.2"] as const)("%s", (dialect) => {
  it("a known one is answered without a stream, right behind ready and later on", async () => {
    const host = await ready({ dialect, responses: [{ say: "the model" }] });
    host.message("m1", "/help");
    expect(await host.next("stream_end")).toMatchObject({ msg_id: "m1", usage: { input_tokens: 0, output_tokens: 0 } });
    expect(infos(host)).toContain("/compact");
    host.message("m2", "/clear");
    await host.next("stream_end", ({ msg_id }) => msg_id === "m2");
    expect(host.of("stream_start")).toEqual([]);
    host.message("m3", "hello");
    await host.stream("m3");
    expect(host.text("m3")).toBe("the model");
  });

  it("one that nobody knows, and a path, go to the model as they are", async () => {
    const host = await ready({
      dialect,
      responses: [
        { expect: { lastUser: "/frobnicate now" }, say: "one" },
        { expect: { lastUser: "/etc/hosts?" }, say: "two" },
      ],
    });
    host.message("m1", "/frobnicate now");
    await host.stream("m1");
    host.message("m2", "/etc/hosts?");
    await host.stream("m2");
    expect([host.text("m1"), host.text("m2"), host.of("error")]).toEqual(["one", "two", []]);
  });

  it("during a stream its answer waits for the end of that", async () => {
    const host = await ready({ dialect, responses: [{ call: { tool: "Bash", args: { command: "true" }, id: "t1" } }, { say: "ok" }] });
    host.message("m1");
    await host.asks("t1");
    host.message("m2", "/help");
    await host.settled();
    expect(infos(host)).toBe("");
    host.approve("t1");
    await host.stream("m1");
    await host.next("stream_end", ({ msg_id }) => msg_id === "m2");
    expect(infos(host)).toContain("/help");
  });

  it("changes the session as its host could, and that is told", async () => {
    const host = await ready({ dialect });
    host.message("m1", "/mode yolo");
    const { capabilities } = await host.next("config_changed");
    expect(capabilities.current_mode).toBe(dialect === "wayland" ? "force" : "yolo");
    await host.next("stream_end");
  });

  it("/quit ends a wayland-core behind its end, and not an aionrs", async () => {
    const host = await ready({ dialect });
    host.message("m1", "/exit");
    await host.next("stream_end");
    if (dialect === "wayland") return expect((await host.exited).code).toBe(0);
    host.message("m2", "say alive");
    await host.stream("m2");
    expect(host.text("m2")).toBe("alive");
  });
});

it("aionrs 0.1 has none: its document gives every message to the model", async () => {
  const host = await ready({ responses: [{ expect: { lastUser: "/help" }, say: "I heard you" }] });
  host.message("m1", "/help");
  await host.stream("m1");
  expect(host.text("m1")).toBe("I heard you");
});
