/** Wayland Desktop, step by step as that host goes about it: strict in what it hears, watchful while a turn runs. */
import { join } from "node:path";
import * as v from "valibot";
import { expect, it } from "vitest";
import { WireEvent } from "../../src/dialects/wayland/wire.js";
import { OFFICIAL } from "../extensions/mcp-harness.js";
import { environment, scratch, script } from "../process/harness.js";
import { JsonProgram, type Line } from "../support/json-program.js";
import { launchers } from "../support/launchers.js";

/** Its own are half a minute and ten minutes; a machine that is busy may need a while for an answer. */
const PING_MS = 25;
const MOST_MISSED = 2000;
const STALL_MS = 50_000;

class Desktop {
  readonly program: JsonProgram;
  /** Whatever makes it end the engine. */
  readonly fatal: string[] = [];
  pongs = 0;
  /** Pings that were not answered yet. */
  missed = 0;
  active: string | undefined;
  readonly #announced = new Set<string>();
  #asking = false;
  #beat: NodeJS.Timeout | undefined;
  #stall: NodeJS.Timeout | undefined;

  constructor(program: JsonProgram) {
    this.program = program;
    program.onLine = (line) => this.#onLine(line);
  }

  /** The first line must be ready; servers come before the history, and each is waited for. */
  static async start(flags: string[], servers: Record<string, { command: string; args: string[] }>): Promise<Desktop> {
    const wayland = join(await launchers(), "wayland-core");
    const env = environment({ WAYLAND_ALLOW_WIRE_FORCE: "1", WAYLAND_SEND_MESSAGE_HOST_DELEGATE: "1", WAYLAND_HOME: scratch() });
    const argv = [
      wayland,
      "--json-stream",
      "--provider",
      "rehearsal",
      ...flags,
      "--session-id",
      "conv-1",
      "--assistant",
      "Wayland Desktop",
    ];
    const host = new Desktop(new JsonProgram(argv, { cwd: scratch(), env }));
    await host.program.next(() => true);
    expect(host.program.heard[0]?.type, host.program.stderr).toBe("ready");
    for (const [name, { command, args }] of Object.entries(servers)) {
      host.program.send({ type: "add_mcp_server", name, transport: "stdio", command, args });
      await host.program.next((line) => line.type.startsWith("mcp_") && line["name"] === name);
    }
    host.program.send({ type: "init_history", text: "Rules: be brief." });
    return host;
  }

  send(msg_id: string, content: string): void {
    this.active = msg_id;
    this.#watch(true);
    this.program.send({ type: "message", msg_id, content });
  }

  async finished(msg_id: string): Promise<Line | undefined> {
    const end = await this.program.next((line) => line.type === "stream_end" && line["msg_id"] === msg_id);
    this.#watch(false);
    return end;
  }

  #onLine(line: Line): void {
    if (!v.is(WireEvent, line) && line["critical"] !== false) this.#end(`an event that it does not know: ${JSON.stringify(line)}`);
    const call = line["call_id"];
    if (line["msg_id"] === this.active && this.active !== undefined) this.#onSign();
    switch (line.type) {
      case "pong":
        this.pongs++;
        this.missed = 0;
        return;
      case "error":
        this.active = undefined;
        return;
      case "tool_request":
      case "call_announced":
        this.#asking = line.type === "tool_request";
        return void this.#announced.add(String(call));
      case "tool_running":
      case "tool_result":
      case "tool_cancelled":
        this.#asking = false;
        if (!this.#announced.has(String(call))) this.#end(`${line.type} of ${String(call)}, which was not announced`);
        return;
      default:
    }
  }

  /** Pings, and gives up after so many that nobody answered; a turn that says nothing at all is given up as well. */
  #watch(on: boolean): void {
    clearInterval(this.#beat);
    clearTimeout(this.#stall);
    if (!on) return;
    this.#beat = setInterval(() => {
      if (this.missed >= MOST_MISSED) this.#end("its pings were not answered");
      this.missed++;
      this.program.send({ type: "ping" });
    }, PING_MS);
    this.#onSign();
  }

  #onSign(): void {
    clearTimeout(this.#stall);
    this.#stall = setTimeout(() => (this.#asking ? this.#onSign() : this.#end("the turn stalled")), STALL_MS);
  }

  #end(why: string): void {
    this.fatal.push(why);
    this.program.child.kill("SIGTERM");
  }
}

it("a whole conversation: servers, history, mode, tools asked and unasked, pings all along, stop and leave", async () => {
  const model = script([
    { expect: { tools: ["mcp__files__echo"] }, call: { tool: "mcp__files__echo", args: { text: "hi" }, id: "t1" } },
    { say: "echoed" },
    {
      calls: [
        { tool: "Bash", args: { command: "sleep 0.3; echo slow" }, id: "t2" },
        { tool: "Nonsense", args: {}, id: "t3" },
      ],
    },
    { say: "ran" },
    { steps: [{ say: "one" }, { wait: "forever" }] },
    { say: "on" },
  ]);
  const host = await Desktop.start(["--model", model], {
    files: { command: process.execPath, args: [OFFICIAL, "stdio"] },
    gone: { command: "/nonexistent/server", args: [] },
  });
  expect(host.program.heard.filter(({ type }) => type.startsWith("mcp_")).map(({ type, name }) => [type, name])).toEqual([
    ["mcp_ready", "files"],
    ["mcp_failed", "gone"],
  ]);

  host.send("m1", "use the server");
  await host.program.next(({ type }) => type === "tool_request");
  await host.program.next(() => host.pongs >= 3);
  host.program.send({ type: "tool_approve", call_id: "t1", scope: "once" });
  expect(await host.finished("m1")).toMatchObject({ finish_reason: "stop" });

  host.program.send({ type: "set_mode", mode: "yolo" });
  expect(await host.program.next(({ type }) => type === "config_changed")).toMatchObject({ capabilities: { current_mode: "force" } });
  host.send("m2", "work");
  expect(await host.finished("m2")).toMatchObject({ finish_reason: "stop" });

  host.send("m3", "go on");
  await host.program.next((line) => line.type === "text_delta" && line["msg_id"] === "m3");
  host.program.send({ type: "stop" });
  expect(await host.finished("m3")).toMatchObject({ finish_reason: "stop" });
  host.send("m4", "and now");
  await host.finished("m4");

  host.program.child.stdin.end();
  expect([(await host.program.exited).code, host.fatal]).toEqual([0, []]);
  expect(host.program.heard.filter(({ type }) => type === "error")).toEqual([]);
});

it("a turn that fails ends in its eyes with the error, and the stream_end that follows does no harm", async () => {
  const host = await Desktop.start(["--model", script([{ fail: { status: 401 } }, { say: "better" }])], {});
  host.send("m1", "go");
  expect(await host.finished("m1")).toMatchObject({ finish_reason: "error" });
  expect(host.active).toBeUndefined();
  host.send("m2", "again");
  expect(await host.finished("m2")).toMatchObject({ finish_reason: "stop" });
  expect(host.fatal).toEqual([]);
});
