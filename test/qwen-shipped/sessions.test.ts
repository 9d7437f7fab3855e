/** Sessions: their ids, resumed, copied, gone on with, and those that are not there. */
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { initialized, launch, start } from "./host.js";

const ID = "123e4567-e89b-42d3-a456-426614174000";

describe("sessions", () => {
  it("--session-id names it, on every line", async () => {
    const host = await initialized({ args: ["--session-id", ID], responses: [{ say: "ok" }] });
    await host.ask();
    const ids = host.heard.flatMap((line) => ("session_id" in line ? [line.session_id] : []));
    expect(new Set(ids)).toEqual(new Set([ID]));
    expect(host.of("control_response")[0]).toMatchObject({ response: { response: { session_id: ID } } });
  });

  it("without one a UUID is made up", async () => {
    const host = await initialized({ responses: [{ say: "ok" }] });
    await host.ask();
    expect(host.of("system")[0]?.session_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const uuids = host.heard.flatMap((line) => ("uuid" in line && line.type !== "system" ? [line.uuid] : []));
    expect(new Set(uuids).size).toBe(uuids.length);
  });

  it("no line calls it by another name before it is known which one it is", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const none = launch({ home, cwd, args: ["--continue"] });
    expect(await none.result()).toMatchObject({ is_error: true, session_id: "" });

    const first = await initialized({ home, cwd, args: ["--session-id", ID], responses: [{ say: "one" }] });
    await first.ask("first");
    await first.finish();
    for (const flags of [["--continue"], ["--resume", ID, "--fork-session"]]) {
      const host = launch({ home, cwd, args: flags, responses: [{ say: "two" }] });
      host.send({ type: "nobody-knows" });
      const { session_id } = await host.ask("second");
      expect(["", session_id]).toContain(host.of("system")[0]?.session_id);
      await host.finish();
    }
  });

  it("--resume and --continue go on with it, --fork-session with a copy", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const first = await initialized({ home, cwd, args: ["--session-id", ID], responses: [{ say: "one" }] });
    await first.ask("first");
    expect(await first.finish()).toBe(0);

    const second = await initialized({ home, cwd, args: ["--resume", ID], responses: [{ expect: { messages: 3 }, say: "two" }] });
    expect(await second.ask("second")).toMatchObject({ subtype: "success", session_id: ID });
    expect(await second.finish()).toBe(0);

    const copy = await initialized({
      home,
      cwd,
      args: ["--resume", ID, "--fork-session"],
      responses: [{ expect: { messages: 5 }, say: "copied" }],
    });
    const forked = await copy.ask("third");
    expect(forked).toMatchObject({ subtype: "success", result: "copied" });
    expect(forked.session_id).not.toBe(ID);
    expect(await copy.finish()).toBe(0);

    const original = await initialized({ home, cwd, args: ["--resume", ID], responses: [{ expect: { messages: 5 }, say: "as it was" }] });
    expect(await original.ask("third")).toMatchObject({ result: "as it was" });
    await original.finish();

    const latest = launch({ home, cwd, args: ["--continue"], responses: [{ say: "last" }] });
    expect(await latest.ask("fourth")).toMatchObject({ session_id: ID });
  });

  it("S55: a session that is not there is an error result, on stderr too, and exit 1", async () => {
    const host = launch({ args: ["--resume", ID] });
    host.request("initialize", {}, "i1");
    expect((await host.exited).code).toBe(1);
    expect(host.of("result")).toMatchObject([{ subtype: "error_during_execution", error: { message: expect.stringContaining(ID) } }]);
    expect(host.stderr).toContain(ID);
  });

  it("a turn that the process died in can be gone on with", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const dying = await initialized({
      home,
      cwd,
      args: ["--session-id", ID, "--yolo", "--include-partial-messages"],
      responses: [{ call: { tool: "Bash", args: { command: "echo one" }, id: "t1" } }, { steps: [{ say: "half" }, { wait: "forever" }] }],
    });
    dying.user("work");
    await dying.next("stream_event", ({ event }) => event.type === "content_block_delta" && event.delta.type === "text_delta");
    dying.child.kill("SIGKILL");
    await dying.exited;
    const host = await initialized({ home, cwd, args: ["--resume", ID], responses: [{ say: "the rest" }] });
    expect(await host.control("continue_last_turn")).toMatchObject({ response: { accepted: true, interruption: "interrupted_turn" } });
    expect(await host.result()).toMatchObject({ subtype: "success", result: "the rest" });
  });

  it("--include-directories belong to the workspace", async () => {
    const other = scratch({ "b.txt": "beside" });
    const host = launch({
      args: ["--include-directories", other],
      responses: [{ call: { tool: "Read", args: { file_path: `${other}/b.txt` }, id: "t1" } }, { say: "read" }],
    });
    await host.ask();
    expect(host.toolResult("t1")).toMatchObject({ is_error: false, content: expect.stringContaining("beside") });
  });
});

describe("without a key", () => {
  it("S51: an error result, stderr, exit 41", async () => {
    const host = start([
      "--input-format",
      "stream-json",
      "--output-format",
      "stream-json",
      "--channel=SDK",
      "--provider",
      "openai",
      "--model",
      "gpt-4o",
    ]);
    expect((await host.exited).code).toBe(41);
    expect(host.of("result")).toMatchObject([
      { subtype: "error_during_execution", is_error: true, error: { message: expect.stringContaining("OPENAI_API_KEY") } },
    ]);
    expect(host.stderr).toContain("OPENAI_API_KEY");
  });

  it("the same for a run of one prompt, and for a provider that nobody named", async () => {
    const host = start(["-p", "hi", "--output-format", "stream-json", "--dialect", "qwen-shipped"]);
    expect((await host.exited).code).toBe(41);
    const second = start(["-p", "hi", "--output-format", "stream-json", "--dialect", "qwen-shipped", "--provider", "anthropic"]);
    expect((await second.exited).code).toBe(41);
    expect(second.of("result")).toHaveLength(1);
  });

  it("a configuration that is wrong is exit 52", async () => {
    const host = launch({ config: { approval: "sometimes" } });
    expect((await host.exited).code).toBe(52);
    expect(host.of("result")).toHaveLength(1);
  });
});
