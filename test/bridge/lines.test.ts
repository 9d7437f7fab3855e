/** What an agent of wire 0.1 says, line by line: the numbered cases 1 to 35. */
import { describe, expect, test } from "vitest";
import { Bench, E, node, P, S, says, sh } from "./harness.js";

describe("session lines", () => {
  test("C1: the last one wins", async () => {
    const { result } = await new Bench(says(`${S}a`, `${S}b`, "done")).turn();
    expect(result).toMatchObject({ session_id: "b", reply: "done", exit_code: 0, error: "" });
  });

  test("C2: one without a newline at the end counts", async () => {
    const { partials, result } = await new Bench(node(`process.stdout.write('${P}"x"\\n${S}z')`)).turn();
    expect([partials, result.session_id, result.reply]).toEqual([["x"], "z", ""]);
  });

  test("C3: blanks around the id do not count", async () => {
    expect((await new Bench(says(`${S}  pad  `)).turn()).result.session_id).toBe("pad");
  });

  test.each([S, `${S}   `])("C4: %j after an id keeps it, with a warning", async (line) => {
    const { result, stderr } = await new Bench(says(`${S}ok`, line)).turn();
    expect(result).toMatchObject({ session_id: "ok", reply: "" });
    expect(stderr).toContain("session line without a usable id");
  });

  test("C5: ids with blanks or colons are ignored", async () => {
    const { result } = await new Bench(says(`${S}ok`, `${S}has space`, `${S}bad:id`)).turn();
    expect(result).toMatchObject({ session_id: "ok", reply: "" });
  });

  test("C6: an id with a slash is stored, and comes back", async () => {
    const bench = new Bench(sh(`echo "${S}../a/b"; echo "had $AGENT_SESSION_ID"`));
    expect((await bench.turn()).result.session_id).toBe("../a/b");
    expect((await bench.turn()).result.reply).toBe("had ../a/b");
  });
});

describe("what is body and what is not", () => {
  test("C7: a space before the prefix makes it body, and stays", async () => {
    expect((await new Bench(says(` ${S}x`)).turn()).result).toMatchObject({ session_id: "", reply: ` ${S}x` });
  });

  test("C8: prefixes are matched exactly", async () => {
    const lines = ["agent_session:x", "AGENT_PARTIALS:x", "AGENT_ERROR"];
    expect((await new Bench(says(...lines)).turn()).result.reply).toBe(lines.join("\n"));
  });

  test("C9: a partial may hold newlines and any character", async () => {
    expect((await new Bench(says(`${P}"line1\\nline2 😀"`)).turn()).partials).toEqual(["line1\nline2 😀"]);
  });

  test("C10: a partial that is no JSON stands for itself, with a warning", async () => {
    const { partials, stderr } = await new Bench(says(`${P}not json`)).turn();
    expect(partials).toEqual(["not json"]);
    expect(stderr).toContain("without a JSON string");
  });

  test("C11: JSON that is no string stands for itself", async () => {
    const payloads = ["42", "true", "[1]", '{"k":1}'];
    expect((await new Bench(says(...payloads.map((payload) => P + payload))).turn()).partials).toEqual(payloads);
  });

  test("C12: an empty partial reaches nobody", async () => {
    expect((await new Bench(says(P, `${P}""`, "done")).turn()).lines.map(({ type }) => type)).toEqual(["result"]);
  });

  test("C13: without streaming there are no partials, and the agent knows", async () => {
    const { partials, result } = await new Bench(sh(`echo '${P}"x"'; echo "body $AGENT_STREAMING"`), { streaming: false }).turn();
    expect([partials, result.reply]).toEqual([[], "body 0"]);
  });

  test("C14: streaming as a text is refused, with its place", async () => {
    const { result } = await new Bench(says(`${P}"x"`), { streaming: "false" }).turn();
    expect(result).toMatchObject({
      exit_code: 1,
      error: expect.stringMatching(/profile\.yaml:\d+:\d+: streaming must be true or false, not 'false'$/),
    });
  });
});

describe("errors", () => {
  test("A19, C15: an error ends the partials and discards the body", async () => {
    const { partials, error, result } = await new Bench(says(`${P}"a"`, `${E}"boom"`, `${P}"b"`, "body")).turn();
    expect([partials, error, result.exit_code, result.process_exit_code]).toEqual([["a"], "boom", 1, 0]);
  });

  test("A18, C16: a body before the error is discarded, too", async () => {
    const { error, result } = await new Bench(says("body", `${E}"boom"`)).turn();
    expect([error, result.reply, result.body]).toEqual(["boom", "", "body"]);
  });

  test("C17: the first of several counts", async () => {
    expect((await new Bench(says(`${E}"e1"`, `${E}"e2"`)).turn()).error).toBe("e1");
  });

  test.each([`${E}""`, E, `${E}" \\n"`])("C18: %j fails the turn in words of ours", async (line) => {
    const { error, result } = await new Bench(says(line)).turn();
    expect([error, result.exit_code]).toEqual(["The agent reported an error without saying which", 1]);
  });

  test("C19: a session told after an error is kept", async () => {
    const bench = new Bench(says(`${E}"x"`, `${S}s9`));
    expect(await bench.turn()).toMatchObject({ error: "x", result: { session_id: "s9" } });
    expect((await bench.turn()).result.session_id).toBe("s9");
  });

  test("C20: a failure without a word is told in words of ours", async () => {
    const { error, result } = await new Bench(sh("echo body; exit 3")).turn();
    expect([error, result.exit_code, result.process_exit_code, result.body]).toEqual(["The agent failed with exit code 3", 3, 3, "body"]);
  });

  test("C21: unless the profile wants none", async () => {
    const { error, result, stderr } = await new Bench(sh("exit 3"), { send_error_reply: false }).turn();
    expect([error, result.error, result.exit_code]).toEqual([undefined, "", 3]);
    expect(stderr).toContain("exit code 3");
  });

  test("C22: the agent's own words are told all the same", async () => {
    expect((await new Bench(says(`${E}"x"`), { send_error_reply: false }).turn()).error).toBe("x");
    expect((await new Bench(says(`${E}""`), { send_error_reply: false }).turn()).error).toBeUndefined();
  });
});

describe("bytes", () => {
  test("C23: saying nothing is a success", async () => {
    const { lines, result } = await new Bench(sh("exit 0")).turn();
    expect([lines.length, result.exit_code, result.reply]).toEqual([1, 0, ""]);
  });

  test("C24: blank lines are kept", async () => {
    expect((await new Bench(node(`process.stdout.write("\\n\\na\\n\\n\\nb\\n\\n")`)).turn()).result.reply).toBe("\n\na\n\n\nb\n");
  });

  test("C25: CR LF ends a line", async () => {
    expect((await new Bench(node(`process.stdout.write("a\\r\\n${S}s1\\r\\n")`)).turn()).result).toMatchObject({
      reply: "a",
      session_id: "s1",
    });
  });

  test("C26: CR alone does not", async () => {
    expect((await new Bench(node(`process.stdout.write("a\\r${S}s1\\n")`)).turn()).result).toMatchObject({
      reply: `a\r${S}s1`,
      session_id: "",
    });
  });

  test("C27: a character in two writes is whole", async () => {
    const agent = node(
      `const b = Buffer.from("x😀y\\n"); process.stdout.write(b.subarray(0, 3)); setTimeout(() => process.stdout.write(b.subarray(3)), 300);`,
    );
    expect((await new Bench(agent).turn()).result.reply).toBe("x😀y");
  });

  test("C28: a byte that is no UTF-8 costs itself alone", async () => {
    const agent = node(`process.stdout.write(Buffer.from([0x61, 0xff, 0x62, 0x0a])); console.log("c"); console.log("${S}s")`);
    expect((await new Bench(agent).turn()).result).toMatchObject({ reply: "a\uFFFDb\nc", session_id: "s" });
  });

  test("C29: a byte order mark is nothing", async () => {
    expect((await new Bench(says(`\uFEFF${S}s1`)).turn()).result).toMatchObject({ session_id: "s1", reply: "" });
  });
});

describe("caps", () => {
  test("A22, C30: a long reply is cut, and the suffix follows", async () => {
    const { result } = await new Bench(says("abcdefghij"), { max_reply_chars: 5, truncation_suffix: "[cut]" }).turn();
    expect(result).toMatchObject({ reply: "abcde[cut]", truncated: true, exit_code: 0 });
  });

  test("C31: one that fits is untouched", async () => {
    expect((await new Bench(says("abcde"), { max_reply_chars: 5 }).turn()).result).toMatchObject({ reply: "abcde", truncated: false });
  });

  test("A21, C32: no character is cut in two", async () => {
    expect((await new Bench(says("😀😀😀😀😀"), { max_reply_chars: 3 }).turn()).result.reply).toBe("😀😀😀\n\n…(truncated)");
  });

  test("C33: partials are capped in sum", async () => {
    const { partials, result } = await new Bench(says(`${P}"hello "`, `${P}"world!!"`, `${P}"more"`, `${S}s`), {
      max_reply_chars: 10,
    }).turn();
    expect(partials).toEqual(["hello ", "worl", "\n\n…(truncated)"]);
    expect(result).toMatchObject({ session_id: "s", truncated: true });
  });

  test("C34: a partial that ends at the cap has no suffix", async () => {
    const { partials, result } = await new Bench(says(`${P}"abcde"`), { max_reply_chars: 5 }).turn();
    expect([partials, result.truncated]).toEqual([["abcde"], false]);
  });

  test("C35: a cap of nothing leaves the suffix", async () => {
    expect((await new Bench(says("abc"), { max_reply_chars: 0 }).turn()).result.reply).toBe("\n\n…(truncated)");
  });

  test("the first revisions cap at 8,000 of themselves, the later ones do not", async () => {
    const bench = new Bench(says("x".repeat(9000)));
    expect((await bench.turn()).result).toMatchObject({ reply: `${"x".repeat(8000)}\n\n…(truncated)`, truncated: true });
    const later = new Bench(node(`console.log(JSON.stringify({ type: "result", text: "x".repeat(9000) }))`), { protocol: "0.4" });
    expect((await later.turn()).result.reply).toHaveLength(9000);
  });
});
