/** What `set_config` changes is seen in the next request to the vendor, in both protocols that have it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { launchWith, type AionrsHost } from "../aionrs/host.js";
import { scratch } from "../process/harness.js";
import { modelServer, type ModelServer, type Reply } from "../support/model-server.js";

interface Talk {
  host: AionrsHost;
  server: ModelServer;
  cwd: string;
  /** Says it and gives the request that it led to. */
  ask(msg_id: string, files?: string[]): Promise<Record<string, unknown>>;
}

const hi: Reply = { text: ["Hi"] };

const changed = (host: AionrsHost, nth = 1) => host.next("config_changed", (event) => host.of("config_changed").indexOf(event) === nth - 1);

const Body = v.record(v.string(), v.unknown());

describe.each(["wayland", "aionrs@0.2"] as const)("%s", (dialect) => {
  const talk = talkIn(dialect);

  const told = (host: AionrsHost): string[] => host.of("info").map(({ message }) => message);

  it("D38: model: the next request names it, and what the model can do is told anew", async () => {
    const { host, ask } = await talk("claude-sonnet-4-5", [hi, hi]);
    expect(host.of("ready")[0]?.capabilities).toMatchObject({ effort: false, effort_levels: [], thinking: true });
    expect((await ask("m1"))["model"]).toBe("claude-sonnet-4-5");
    host.send({ type: "set_config", model: "claude-opus-4-6" });
    expect((await changed(host)).capabilities).toMatchObject({ effort: true, effort_levels: ["low", "medium", "high", "max"] });
    expect(told(host)).toEqual(["config updated: model: claude-sonnet-4-5 → claude-opus-4-6"]);
    expect((await ask("m2"))["model"]).toBe("claude-opus-4-6");
  });

  it("thinking and thinking_budget: on with that budget, and off again", async () => {
    const { host, ask } = await talk("claude-sonnet-4-5", [hi, hi, hi, hi]);
    expect((await ask("m1"))["thinking"]).toEqual({ type: "enabled", budget_tokens: 10_000 });
    host.send({ type: "set_config", thinking: "enabled", thinking_budget: 4096 });
    expect((await ask("m2"))["thinking"]).toEqual({ type: "enabled", budget_tokens: 4096 });
    host.send({ type: "set_config", thinking_budget: 2048 });
    expect((await ask("m3"))["thinking"]).toEqual({ type: "enabled", budget_tokens: 2048 });
    host.send({ type: "set_config", thinking: "disabled" });
    expect((await ask("m4"))["thinking"]).toEqual({ type: "disabled" });
    expect(told(host)).toEqual([
      "config updated: thinking: enabled (budget: 4096)",
      "config updated: thinking budget: 2048",
      "config updated: thinking: disabled",
    ]);
  });

  it("effort: set, cleared, and refused where the model does not have it", async () => {
    const { host, ask, server } = await talk("claude-opus-4-6", [hi, hi, hi]);
    host.send({ type: "set_config", effort: "high" });
    expect((await ask("m1"))["output_config"]).toMatchObject({ effort: "high" });
    host.send({ type: "set_config", effort: "" });
    expect(await ask("m2")).not.toHaveProperty("output_config.effort");
    host.send({ type: "set_config", effort: "extreme", model: "claude-opus-4-5" });
    expect((await host.next("error")).error).toMatchObject({
      code: "config_error",
      message: "There is no effort 'extreme' for claude-opus-4-5; there are low, medium, high",
    });
    host.message("m3");
    await host.stream("m3");
    expect(server.requests.at(-1)?.body).toMatchObject({ model: "claude-opus-4-6" });
  });

  it("compaction: what the model sees of a tool's output", async () => {
    const call: Reply = { calls: [{ name: "Bash", args: { command: "printf '\\033[31mred\\033[0m\\n\\n\\n\\n'; seq 1 9; exit 0" } }] };
    const { host, ask } = await talk("claude-sonnet-4-5", [call, hi, call, hi, call, hi]);
    const seen = async (msg_id: string): Promise<string> => JSON.stringify((await ask(msg_id))["messages"]);
    const off = await seen("m1");
    expect(off).toContain("\\u001b[31mred");
    expect(off).toContain("1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9");
    host.send({ type: "set_config", compaction: "safe" });
    expect((await seen("m2")).slice(off.length)).toMatch(/red\\n\\n1\\n2\\n3/);
    host.send({ type: "set_config", compaction: "full" });
    expect(await seen("m3")).toContain("red\\n\\n1\\n[... 8 similar lines]");
    expect(host.of("tool_result").at(-1)?.output).toContain("[... 8 similar lines]");
  });

  it("set in a turn: told at once that it waits, told behind the stream that it counts, seen in the next turn", async () => {
    const { host, server, ask } = await talk("claude-sonnet-4-5", [{ text: ["On my way"], hold: "end" }, hi]);
    host.message("m1");
    await host.next("text_delta");
    host.send({ type: "set_config", model: "claude-sonnet-4-6" }, { type: "set_config", thinking: "disabled" }, { type: "ping" });
    await host.next("pong");
    expect(told(host)).toEqual(Array(2).fill("set_config: queued, will apply after current response"));
    server.release();
    await host.stream("m1");
    await changed(host, 2);
    expect(told(host).slice(2)).toEqual([
      "config applied: model: claude-sonnet-4-5 → claude-sonnet-4-6",
      "config applied: thinking: disabled",
    ]);
    expect(await ask("m2")).toMatchObject({ model: "claude-sonnet-4-6", thinking: { type: "disabled" } });
  });

  it("right behind a message it counts for the next one", async () => {
    const { host, server } = await talk("claude-sonnet-4-5", [hi, hi]);
    const message = (msg_id: string) => ({ type: "message" as const, msg_id, content: "go" });
    host.send(message("m1"), { type: "set_config", model: "claude-sonnet-4-6" }, message("m2"));
    await host.stream("m2");
    expect(server.requests.map(({ body }) => body)).toMatchObject([{ model: "claude-sonnet-4-5" }, { model: "claude-sonnet-4-6" }]);
    expect(told(host)[0]).toBe("set_config: queued, will apply after current response");
  });

  it("that cannot be: a value that is none is protocol_error, a model without a key config_error, and nothing changes", async () => {
    const { host, server } = await talk("claude-sonnet-4-5", [hi]);
    host.raw('{"type":"set_config","model":"claude-opus-4-6","compaction":"tight"}\n');
    expect((await host.next("error")).error).toMatchObject({ code: "protocol_error", message: expect.stringContaining("tight") });
    host.send({ type: "set_config", model: "gpt-5" });
    expect((await host.next("error", ({ error }) => error.code === "config_error")).error.message).toBe("OPENAI_API_KEY not set");
    host.message("m1");
    await host.stream("m1");
    expect(server.requests[0]?.body).toMatchObject({ model: "claude-sonnet-4-5" });
    expect(host.of("config_changed")).toEqual([]);
  });

  it("--compaction and --thinking-budget say the same at the start", async () => {
    const call: Reply = { thinking: ["Count."], signature: "signed", calls: [{ name: "Bash", args: { command: "seq 1 9" } }] };
    const { ask } = await talk("claude-sonnet-4-5", [call, hi], ["--compaction", "full", "--thinking-budget", "3000"]);
    const body = await ask("m1");
    expect(JSON.stringify(body["messages"])).toContain("[... 8 similar lines]");
    expect(body["thinking"]).toEqual({ type: "enabled", budget_tokens: 3000 });
  });
});

describe("aionrs@0.2, of which Wayland has no such key", () => {
  const talk = talkIn("aionrs@0.2");

  it("image_input: whether the model is shown what the host attaches", async () => {
    const { host, cwd, ask } = await talk("claude-sonnet-4-5", [hi, hi, hi]);
    expect(host.of("ready")[0]?.capabilities).toMatchObject({ image_input: "supported" });
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    writeFileSync(join(cwd, "a.png"), Buffer.from(png, "base64"));
    const isShown = async (msg_id: string): Promise<boolean> => JSON.stringify(await ask(msg_id, ["a.png"])).includes('"type":"image"');
    expect(await isShown("m1")).toBe(true);
    host.send({ type: "set_config", image_input: "unsupported" });
    expect((await changed(host)).capabilities).toMatchObject({ image_input: "unsupported" });
    expect(await isShown("m2")).toBe(false);
    host.send({ type: "set_config", image_input: "unknown" });
    expect(await isShown("m3")).toBe(true);
  });
});

function talkIn(dialect: "wayland" | "aionrs@0.2"): (model: string, script: readonly Reply[], args?: string[]) => Promise<Talk> {
  return async (model: string, script: readonly Reply[], args: string[] = []): Promise<Talk> => {
    const server = await modelServer("anthropic", script);
    const cwd = scratch();
    const host = launchWith(["--provider", "anthropic", "--model", model, "--base-url", server.url, "--auto-approve", ...args], {
      dialect,
      cwd,
      env: { ANTHROPIC_API_KEY: server.key },
    });
    await host.next("ready");
    return {
      host,
      server,
      cwd,
      async ask(msg_id, files) {
        host.message(msg_id, "go", files);
        await host.stream(msg_id);
        expect(host.of("error")).toEqual([]);
        return v.parse(Body, server.requests.at(-1)?.body);
      },
    };
  };
}
