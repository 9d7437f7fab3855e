/** The RFC from the outside: which session a request means, prompts and their names, several sessions in one process. */
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { launch, received, story, type Format } from "./host.js";

const FORMATS: Format[] = ["stream-json", "stream-chunk-json"];
const words = (text: string): Record<string, unknown> => ({ input: { origin: "user", parts: [{ type: "text", text }] } });

describe("which session", () => {
  it("R4, R5: `_new` and a missing id take the receipt's session first, and then others", async () => {
    const host = await received({ then: "repeat", responses: [{ say: "ok" }] });
    host.send({ session_id: "_new", ...words("a") }, words("b"), { session_id: "_new", ...words("c") });
    await host.nth("summary", 3);
    const ids = host.all("summary").map(({ metadata }) => metadata.session_id ?? "");
    expect(new Set(ids).size).toBe(3);
    expect(ids).toContain(host.session);
    for (const id of ids) expect(id).toMatch(/^[0-9A-Z]{26}$/);
    for (const { id, metadata } of host.all("text")) expect(id).toBe(`chatcmpl-${metadata.session_id}`);
  });

  it("Q30: an unknown id makes a session of that name; a stored one is gone on with", async () => {
    const home = scratch();
    const cwd = scratch();
    const first = await received({ home, cwd, responses: [{ say: "noted" }] });
    first.send({ session_id: "session-123", ...words("remember the number 7") });
    expect((await first.next("text")).raw).toMatchObject({
      id: "chatcmpl-session-123",
      metadata: { session_id: "session-123", prompt_id: "session-123########1" },
    });
    expect(await first.finish()).toBe(0);

    const second = await received({ home, cwd, model: ["--provider", "rehearsal"] });
    expect(second.session).not.toBe("session-123");
    second.send({ session_id: "session-123", ...words("say what was first") });
    await second.next("summary");
    expect(second.heard[1]?.metadata.session_id).toBe("session-123");
    // No prompt of the session has the name of another.
    expect(second.all("summary")[0]?.metadata.prompt_id).toMatch(/^session-123########\d{2,}$/);
    second.send({ session_id: "session-123", input: { command: { kind: "slash", path: ["context"], args: "" } } });
    const result = await second.next("result/command");
    expect(JSON.stringify(result.raw["result"])).toMatch(/Messages +4/);
    expect(await second.finish()).toBe(0);
  });

  it("a session that another process holds is refused, and the process lives", async () => {
    const home = scratch();
    const one = await received({ home, then: "repeat", responses: [{ say: "mine" }] });
    one.send({ session_id: "shared", ...words("a") });
    await one.next("summary");
    const other = await received({ home, then: "repeat", responses: [{ say: "mine" }] });
    other.send({ session_id: "shared", prompt_id: "p-1", ...words("b") });
    const refusal = await other.next("error");
    expect(refusal.metadata).toMatchObject({ prompt_id: "p-1", error: { message: expect.stringContaining("in use by process") } });
    expect(story(await other.turn())).toBe("text event:Finished summary");
  });

  it("`--resume` and `--session-id` name the receipt's session", async () => {
    const home = scratch();
    const cwd = scratch();
    const first = await received({ home, cwd, args: ["--session-id", "mine"], responses: [{ say: "ok" }] });
    expect(first.session).toBe("mine");
    await first.turn();
    expect(await first.finish()).toBe(0);
    for (const id of ["mine", "latest"]) {
      const again = await received({
        home,
        cwd,
        args: ["--resume", id],
        responses: [{ expect: { messages: 3 + (id === "latest" ? 2 : 0) }, say: "yes" }],
      });
      expect(again.session).toBe("mine");
      expect(again.text(await again.turn())).toBe("yes");
      expect(await again.finish()).toBe(0);
    }
  });

  it("`--fork-session` goes on with a copy of the session that `--resume` names, and is refused without one", async () => {
    const home = scratch();
    const cwd = scratch();
    const first = await received({ home, cwd, args: ["--session-id", "mine"], responses: [{ say: "ok" }] });
    await first.turn();
    expect(await first.finish()).toBe(0);
    const copy = await received({
      home,
      cwd,
      args: ["--resume", "mine", "--fork-session"],
      responses: [{ expect: { messages: 3 }, say: "yes" }],
    });
    expect(copy.session).not.toBe("mine");
    expect(copy.text(await copy.turn())).toBe("yes");
    const wrong = launch({ home, cwd, args: ["--fork-session"] });
    expect((await wrong.next("fatal")).raw).toMatchObject({ error: { message: expect.stringContaining("--resume ID") } });
    expect((await wrong.exited).code).toBe(42);
  });

  it("Q31: sessions stay side by side, each with its own history", async () => {
    const host = await received({ model: ["--provider", "rehearsal"] });
    for (const [session_id, text] of [
      ["a", "say apple"],
      ["b", "say berry"],
      ["a", "say again"],
      ["b", "say bye"],
    ] as const) {
      const before = host.all("summary").length;
      host.send({ session_id, ...words(text) });
      await host.nth("summary", before + 1);
    }
    expect(host.all("text").map(({ content, metadata }) => [metadata.session_id, content, metadata.prompt_id])).toEqual([
      ["a", "apple", "a########1"],
      ["b", "berry", "b########1"],
      ["a", "again", "a########2"],
      ["b", "bye", "b########2"],
    ]);
  });
});

describe("prompts", () => {
  it("R6, Q32: are numbered, on from the host's own numbers; a used name is kept", async () => {
    const host = await received({ then: "repeat", responses: [{ say: "ok" }] });
    await host.turn("a");
    await host.turn("b");
    await host.turn("c", { prompt_id: `${host.session}########7` });
    await host.turn("d");
    await host.turn("e", { prompt_id: "mine" });
    await host.turn("f", { prompt_id: "mine" });
    const ids = host.all("summary").map(({ metadata }) => metadata.prompt_id?.replace(`${host.session}########`, ""));
    expect(ids).toEqual(["1", "2", "7", "8", "mine", "mine"]);
    expect(host.all("summary").map(({ metadata }) => metadata.summary?.prompt_id?.replace(/^.*#/, ""))).toEqual(ids);
  });

  it("Q32: the name of a turn that runs means that turn", async () => {
    const host = await received({
      responses: [
        { call: { tool: "Write", args: { file_path: "a", content: "a" } } },
        { expect: { lastUser: "and quickly" }, say: "done" },
      ],
    });
    host.say("go", { prompt_id: "p-1" });
    const request = await host.next("control_request:can_use_tool");
    host.say("and quickly", { prompt_id: "p-1" });
    await host.settled();
    host.approve(request);
    await host.next("summary");
    await host.settled();
    expect(host.all("summary")).toHaveLength(1);
    expect(host.text()).toBe("done");
  });
});

describe.each(FORMATS)("two sessions at once, %s", (output) => {
  it("interleave, and never mix up their ids", async () => {
    const ask = (path: string): unknown[] => [
      { say: `writing ${path}`, call: { tool: "Write", args: { file_path: path, content: path } } },
      { say: `wrote ${path}` },
    ];
    const cwd = scratch();
    const host = await received({ output, cwd, then: "repeat", responses: [...ask("x")] });
    host.send({ session_id: "left", prompt_id: "l", ...words("go") });
    const left = await host.next("control_request:can_use_tool", ({ raw }) => raw["session_id"] === "left");
    // While the one waits, the other has a script of its own to run.
    host.send({ session_id: "right", prompt_id: "r", ...words("go") });
    const right = await host.next("control_request:can_use_tool", ({ raw }) => raw["session_id"] === "right");
    expect([left.raw["prompt_id"], right.raw["prompt_id"]]).toEqual(["l", "r"]);
    host.approve(right);
    await host.next("summary", ({ metadata }) => metadata.session_id === "right");
    expect(host.all("summary")).toHaveLength(1);
    host.deny(left);
    await host.next("summary", ({ metadata }) => metadata.session_id === "left");
    for (const { raw, id, metadata, displays } of host.heard.slice(1)) {
      const session = metadata.session_id ?? String(raw["session_id"]);
      const prompt = metadata.prompt_id ?? raw["prompt_id"];
      if (id !== undefined) expect(id).toBe(`chatcmpl-${session}`);
      expect([session, prompt]).toEqual(session === "left" ? ["left", "l"] : ["right", "r"]);
      for (const display of displays) expect(display.session_id).toBe(session);
    }
    const ended = (session: string): string[] =>
      host.heard.flatMap(({ metadata, displays }) => (metadata.session_id === session ? displays.map(({ status }) => status) : []));
    expect([ended("left").at(-1), ended("right").at(-1)]).toEqual(["canceled", "success"]);
  });
});
