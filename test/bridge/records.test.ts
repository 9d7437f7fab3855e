/** Agents of wires 0.2 to 0.4, permissions, and finding out which wire an agent speaks: the numbered cases 69 to 78. */
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { Bench, E, node, P, S, says, sh, told, type Ran } from "./harness.js";

const LATER = { protocol: "0.4" };
const ASKS = { ...LATER, permission: true };

/** An agent that prints these records. */
const records = (...all: readonly object[]): string => says(...all.map((record) => JSON.stringify(record)));

/** An agent that asks, and prints what it was answered; the first line of its input is the turn. */
const asking = (...requests: readonly object[]): string =>
  node(`
    const requests = ${JSON.stringify(requests)};
    const answers = [];
    let rest = "";
    for (const request of requests) console.log(JSON.stringify({ type: "permission_request", ...request }));
    process.stdin.on("data", (text) => {
      const lines = (rest + text).split("\\n");
      rest = lines.pop();
      for (const line of lines) if (JSON.parse(line).type === "permission_response") answers.push(JSON.parse(line));
      if (answers.length < requests.length) return;
      console.log(JSON.stringify({ type: "result", text: JSON.stringify(answers) }));
      process.stdin.destroy();
    });`);

const write = (id: string): object => ({ request_id: id, tool_name: "Write", input: { path: id }, description: `Write ${id}` });

/** A host that answers each request, in the order that it likes. */
async function answered(bench: Bench, answers: readonly object[], after: number): Promise<Ran> {
  const program = bench.start(["run", "PROFILE", "--message", "hi", "--json"]);
  let asked = "";
  program.stdout.on("data", (text: Buffer) => (asked += text.toString()));
  const ran = told(program);
  while (asked.split("permission_request").length <= after) await once(program.stdout, "data");
  for (const answer of answers) program.stdin.write(`${JSON.stringify({ type: "permission_response", ...answer })}\n`);
  return ran;
}

describe("wire 0.4", () => {
  test("C69: thinking is marked, and the answer comes all the same", async () => {
    const agent = records(
      { type: "partial", text: "hm", role: "thinking" },
      { type: "partial", text: "", role: "output" },
      { type: "result", text: "42" },
    );
    const { lines, result } = await new Bench(agent, LATER).turn();
    expect(lines[0]).toEqual({ type: "partial", text: "hm", role: "thinking" });
    expect([lines.length, result.reply]).toEqual([2, "42"]);
  });

  test("what was streamed is not said twice", async () => {
    const agent = records({ type: "partial", text: "4" }, { type: "partial", text: "2" }, { type: "result", text: "42" });
    const { partials, result } = await new Bench(agent, LATER).turn();
    expect([partials, result.reply]).toEqual([["4", "2"], ""]);
    expect((await new Bench(agent, { ...LATER, streaming: false }).turn()).result.reply).toBe("42");
  });

  test("C70: the first of two results counts", async () => {
    const { result, stderr } = await new Bench(records({ type: "result", text: "1" }, { type: "result", text: "2" }), LATER).turn();
    expect([result.reply, stderr]).toEqual(["1", expect.stringContaining("second result")]);
  });

  test("C71: the first session counts", async () => {
    const agent = records({ type: "partial", text: "x", session_id: "a" }, { type: "result", text: "", session_id: "b" });
    const { result, stderr } = await new Bench(agent, LATER).turn();
    expect([result.session_id, stderr]).toEqual(["a", expect.stringContaining("the first name counts")]);
  });

  test("C72: plain text is nothing, and the user is told what might be wrong", async () => {
    const { result, stderr } = await new Bench(says("hello"), LATER).turn();
    expect(result).toMatchObject({ reply: "", exit_code: 0 });
    expect(stderr).toContain("wire 0.1");
  });

  test("C76: a long message arrives as it is", async () => {
    const long = "你好😀é".repeat(20_000);
    const agent = node(`
      const { message, session_name, protocol_version } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
      const same = message === "你好😀é".repeat(20_000);
      console.log(JSON.stringify({ type: "result", text: JSON.stringify([same, session_name, protocol_version, process.env.AGENT_MESSAGE ?? null]) }));`);
    const { result } = await new Bench(agent, LATER).turn("-", { input: long });
    expect(JSON.parse(result.reply)).toEqual([true, "default", "0.4", null]);
  });

  test("an attachment keeps its MIME type, and its kind though that says another", async () => {
    const agent = node(`
      const { attachments } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
      console.log(JSON.stringify({ type: "result", text: JSON.stringify(attachments) }));`);
    const attachments = [
      { kind: "image", url: "http://a/1", mime_type: "image/png" },
      { kind: "file", url: "http://a/2", filename: "two", mime_type: "image/png" },
      { kind: "audio", url: "http://a/3", mime_type: "application/ogg" },
      { kind: "other", url: "http://a/4", mime_type: "text/x-odd" },
      { kind: "other", url: "http://a/5" },
    ];
    const flags = attachments.flatMap((one) => ["--attachment", JSON.stringify(one)]);
    const { result } = await new Bench(agent, LATER).turn("look", { flags });
    expect(JSON.parse(result.reply)).toEqual(attachments);
  });

  test("C77: a long result before an immediate exit arrives as it is", async () => {
    const agent = node(
      `require("node:fs").writeSync(1, JSON.stringify({ type: "result", text: "r".repeat(1024 * 1024) })); process.exit(0)`,
    );
    const { result } = await new Bench(agent, LATER).turn();
    expect(result.reply).toBe("r".repeat(1024 * 1024));
  });

  test("a reply that is longer than anybody keeps is truncated, and says so", async () => {
    const agent = node(`
      const line = JSON.stringify({ type: "text", text: "x".repeat(1024 * 1024) }) + "\\n";
      for (let n = 0; n < 18; n++) process.stdout.write(line);`);
    const { result } = await new Bench(agent, { protocol: "0.3" }).turn();
    expect([result.truncated, result.exit_code, result.reply.slice(15 * 1024 * 1024)]).toEqual([true, 0, "\n\n…(truncated)"]);
  });

  test("an error beats the result, and usage is passed on", async () => {
    const usage = { input_tokens: 3, output_tokens: 4, odd: true };
    const { error, result } = await new Bench(
      records({ type: "result", text: "x" }, { type: "error", message: "boom", usage }),
      LATER,
    ).turn();
    expect([error, result.exit_code, result.body, result.usage]).toEqual(["boom", 1, "x", usage]);
  });
});

describe("wire 0.3", () => {
  const old = records({ type: "session", id: "1" }, { type: "text", text: "old" }, { type: "result", text: "new", session_id: "2" });

  test("its text and session lines are left out of a turn of 0.4, with a word on stderr", async () => {
    const bench = new Bench(old, LATER);
    const { stderr, result } = await bench.turn();
    expect(result).toMatchObject({ reply: "new", session_id: "2", error: "", exit_code: 0 });
    expect(stderr).toContain("'session' line, which belongs to wire 0.3");
    expect(stderr).toContain("'text' line, which belongs to wire 0.3");
  });

  test("its text and session lines count where the wire is found out", async () => {
    const agent = records({ type: "session", id: "1" }, { type: "text", text: "old" });
    expect((await new Bench(agent, { protocol: "auto" }).turn()).result).toMatchObject({ reply: "old", session_id: "1" });
  });

  test("text adds up, and the last session counts", async () => {
    const agent = records(
      { type: "text", text: "a" },
      { type: "session", id: "1" },
      { type: "text", text: "b" },
      { type: "session", id: "2" },
    );
    expect((await new Bench(agent, { protocol: "0.3" }).turn()).result).toMatchObject({ reply: "ab", session_id: "2" });
  });
});

describe("permissions", () => {
  test("C73: nobody answers in time: denied, ended", async () => {
    const bench = new Bench(
      node(`
        console.log(JSON.stringify({ type: "permission_request", request_id: "r", tool_name: "Write", input: {} }));
        process.on("SIGTERM", () => {});
        let heard = "";
        process.stdin.on("data", (text) => { heard += text; }).on("end", () => {
          const last = JSON.parse(heard.trim().split("\\n").at(-1));
          console.log(JSON.stringify({ type: "partial", text: last.behavior + ": " + last.message }));
          process.exitCode = 0;
        });`),
      { ...ASKS, timeout_secs: 5, kill_grace_secs: 10 },
    );
    const program = bench.start(["run", "PROFILE", "--message", "hi", "--json"]);
    const { partials, result } = await told(program);
    expect([partials, result.exit_code, result.timed_out]).toEqual([["deny: permission timed out"], 124, true]);
    await bench.processes.gone();
  });

  test("an agent that asks and never reads is ended all the same", async () => {
    const asks = `console.log(JSON.stringify({ type: "permission_request", request_id: "r", tool_name: "Write", input: {} })); setInterval(() => {}, 1000);`;
    const bench = new Bench(node(asks), { ...ASKS, timeout_secs: 1, kill_grace_secs: 1 });
    const { result } = await bench.turn("-", { input: "x".repeat(2 * 1024 * 1024), flags: ["--permission", "allow"] });
    expect(result).toMatchObject({ exit_code: 124, timed_out: true });
  });

  test.each([
    [
      { type: "result", text: "done" },
      { reply: "done", exit_code: 0 },
    ],
    [
      { type: "error", message: "boom" },
      { error: "boom", exit_code: 1 },
    ],
  ])("an agent that said %j and listens on is not waited for", async (last, expected) => {
    const agent = node(`
      process.stdin.once("data", () => console.log(${JSON.stringify(JSON.stringify(last))}));
      process.stdin.on("data", () => {});`);
    expect((await new Bench(agent, { ...ASKS, timeout_secs: 20 }).turn()).result).toMatchObject({ ...expected, timed_out: false });
  });

  test("C74: answers go back in the order of the questions", async () => {
    const bench = new Bench(asking(write("a"), write("b")), ASKS);
    const { result, lines } = await answered(
      bench,
      [
        { request_id: "b", behavior: "deny", message: "not b" },
        { request_id: "a", behavior: "allow", updated_input: { path: "c" } },
      ],
      2,
    );
    expect(lines.slice(0, 2)).toEqual([
      { type: "permission_request", ...write("a") },
      { type: "permission_request", ...write("b") },
    ]);
    expect(JSON.parse(result.reply)).toEqual([
      { type: "permission_response", request_id: "a", behavior: "allow", updated_input: { path: "c" } },
      { type: "permission_response", request_id: "b", behavior: "deny", message: "not b" },
    ]);
    await bench.processes.gone();
  });

  test("C75: a malformed question is denied, and the turn goes on", async () => {
    const { result, stderr } = await new Bench(asking({ request_id: "r", input: {} }), ASKS).turn();
    expect(JSON.parse(result.reply)).toEqual([
      { type: "permission_response", request_id: "r", behavior: "deny", message: expect.stringContaining("malformed") },
    ]);
    expect(stderr).toContain("malformed");
  });

  test.each([
    ["stdin is closed", "hi", [], "deny"],
    ["stdin carries the message", "-", [], "deny"],
    [undefined, "hi", ["--permission", "allow"], "allow"],
    ["the policy here is to deny", "hi", ["--permission", "deny"], "deny"],
  ] as const)("are answered '%s' for the message %s with %j", async (message, said, flags, behavior) => {
    const { result } = await new Bench(asking(write("a")), ASKS).turn(said, { flags, input: said === "-" ? "x" : "" });
    const expected = { type: "permission_response", request_id: "a", behavior, ...(message !== undefined && { message }) };
    expect(JSON.parse(result.reply)).toEqual([expected]);
  });

  test("without --json and a terminal nobody can be asked", async () => {
    const { stdout, code } = await new Bench(asking(write("a")), ASKS).plain(["run", "PROFILE", "--message", "hi"]);
    expect([code, JSON.parse(stdout)]).toEqual([0, [expect.objectContaining({ behavior: "deny" })]]);
  });

  test("lines that are no answer are told and passed over", async () => {
    const bench = new Bench(asking(write("a")), ASKS);
    const { result, stderr } = await answered(
      bench,
      [{ type: "hello" }, { request_id: "zz", behavior: "allow" }, { request_id: "a", behavior: "allow" }],
      1,
    );
    expect(JSON.parse(result.reply)).toEqual([{ type: "permission_response", request_id: "a", behavior: "allow" }]);
    expect(stderr).toContain("no permission_response");
    expect(stderr).toContain("Nothing waits for the permission_response to 'zz'");
    await bench.processes.gone();
  });

  test("of wire 0.2 are lines with prefixes", async () => {
    const agent = sh(`
      echo 'AGENT_PERMISSION_REQUEST:{"request_id":"r","tool_name":"Bash","input":{"command":"ls"}}'
      read -r answer; echo "$AGENT_PERMISSION $AGENT_PROTOCOL_VERSION $answer"`);
    const { result } = await new Bench(agent, { protocol: "0.2", permission: true }).turn("hi", { flags: ["--permission", "allow"] });
    expect(result.reply).toBe('1 0.2 AGENT_PERMISSION_RESPONSE:{"request_id":"r","behavior":"allow"}');
  });
});

describe("an agent that nobody knows", () => {
  const AUTO = { protocol: "auto" };

  test("C78: plain body is wire 0.1", async () => {
    const agent = sh(`echo; echo "hello $AGENT_MESSAGE"; echo '${P}"p"'; echo "${S}s"`);
    const { result, partials } = await new Bench(agent, AUTO).turn();
    expect([result.reply, result.session_id, partials]).toEqual(["\nhello hi", "s", ["p"]]);
  });

  test("C78: an object of a known type is wire 0.4", async () => {
    const agent = node(`
      const { message } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
      console.log(JSON.stringify({ type: "result", text: "hello " + message, session_id: "s" }));
      console.log("noise");`);
    expect((await new Bench(agent, AUTO).turn()).result).toMatchObject({ reply: "hello hi", session_id: "s" });
  });

  test("C78: any other object is body", async () => {
    expect((await new Bench(says('{"type":"weather"}', `${E}"x"`), AUTO).turn()).result).toMatchObject({
      error: "x",
      body: '{"type":"weather"}',
    });
  });

  test("--wire overrules the profile", async () => {
    const bench = new Bench(records({ type: "result", text: "x" }));
    expect((await bench.turn()).result.reply).toBe('{"type":"result","text":"x"}');
    expect((await bench.turn("hi", { flags: ["--wire", "0.4"] })).result.reply).toBe("x");
    expect((await bench.turn("hi", { flags: ["--wire", "auto"] })).result.reply).toBe("x");
  });

  test("a profile below `agentproc` is found out", async () => {
    const bench = new Bench(records({ type: "result", text: "x" }));
    const profile = bench.write("hub.yaml", 'name: x\ntags: [a]\nagentproc:\n  command: "{{PROFILE_DIR}}/agent"\n  args: []\n');
    expect(await bench.plain(["run", profile, "--message", "hi"])).toEqual({ code: 0, stdout: "x\n", stderr: "" });
  });
});
