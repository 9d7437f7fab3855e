/** The requirements of aionrs's json-stream protocol, as a host sees them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Probes } from "../grade/probes.js";
import { Unmet } from "../grade/outcome.js";
import type { Scene } from "../grade/scene.js";
import { StreamHost } from "./json-stream.js";
import { asked, at, is, lives, startedPid, STAYS, textAt } from "./records.js";

const write = (path: string) => ({ kind: "write" as const, path, content: "written\n" });
const exec = (command: string) => ({ kind: "exec" as const, command });
const DONE = { text: ["done"] };

function open(scene: Scene): Promise<StreamHost> {
  return StreamHost.open(scene);
}

export const probes: Probes = {
  async meet(scene) {
    const conversation = await scene.start();
    await conversation.next("ready", is("ready"));
  },
  charge(rec) {
    if (rec === undefined) return "D32";
    const type = textAt(rec, "type");
    return type === "ready" ? "D1" : type.startsWith("tool_") ? "D5" : type === "error" ? "D23" : "D3";
  },
  plays: {
    async D1(scene) {
      const { conversation } = await open(scene);
      conversation.leave();
      await conversation.end();
      const [first] = conversation.records;
      const [ready, second] = conversation.all(is("ready"));
      conversation.expect(first === ready, "ready before any other event", first);
      conversation.expect(second === undefined, "ready once", second);
      conversation.expect(textAt(ready, "version") !== "", "a version in ready", ready);
      conversation.expect(typeof at(ready, "capabilities") === "object", "capabilities in ready", ready);
    },
    async D2(scene) {
      const conversation = await scene.start({ flags: ["--no-session"] });
      const ready = await conversation.next("ready", is("ready")).catch(() => undefined);
      if (ready === undefined) throw new Unmet("The agent does not start with --no-session.");
      conversation.expect(!("session_id" in ready), "no session id in ready", ready);
    },
    async D3(scene) {
      scene.model.script("check-hello", [{ text: ["Hel", "lo"] }]);
      const host = await open(scene);
      host.message("m1", "check-hello");
      const end = await host.end("m1");
      host.conversation.leave();
      await host.conversation.end();
      host.wholeStream("m1");
      host.conversation.expect(host.textOf("m1") === "Hello", 'the model\'s "Hello" in the text of message m1', end);
    },
    async D4(scene) {
      scene.model.script("check-first", [{ text: ["one"] }]);
      scene.model.script("check-second", [{ text: ["two"] }]);
      const host = await open(scene);
      host.message("m1", "check-first");
      const end = await host.end("m1");
      host.message("m2", "check-second");
      await host.end("m2");
      host.conversation.leave();
      await host.conversation.end();
      for (const id of ["m1", "m2"]) host.wholeStream(id);
      const { records } = host.conversation;
      const late = records.find((rec, n) => rec["msg_id"] === "m1" && n > records.indexOf(end));
      host.conversation.expect(late === undefined, "no line of message m1 in the stream of m2", late);
    },
    async D5(scene) {
      scene.model.script("check-ask", [{ wants: [write("a.txt")] }, DONE]);
      const host = await open(scene);
      host.message("m1", "check-ask");
      const request = await host.request();
      await scene.pause();
      const early = host.conversation.all((rec) => rec["call_id"] === request["call_id"])[1];
      host.conversation.expect(early === undefined, "nothing of the call before it is answered", early);
      host.conversation.expect(!existsSync(join(scene.folder, "a.txt")), "no file before the call is approved", request);
      host.answer(request, "approve");
      await host.end("m1");
      host.conversation.expect(
        host.story(request["call_id"]) === "tool_request tool_running tool_result",
        "tool_request, tool_running and tool_result of an approved call",
        request,
      );
      host.conversation.expect(existsSync(join(scene.folder, "a.txt")), "the file that the approved call writes", request);
    },
    async D6(scene) {
      scene.model.script("check-deny", [{ wants: [write("a.txt")] }, { text: ["I see."] }]);
      const host = await open(scene);
      host.message("m1", "check-deny");
      const request = await host.request();
      host.answer(request, "deny", "not on my watch");
      const cancelled = await host.conversation.next("tool_cancelled", is("tool_cancelled", { call_id: request["call_id"] }));
      host.conversation.expect(textAt(cancelled, "reason").includes("not on my watch"), "the host's reason in tool_cancelled", cancelled);
      await host.end("m1");
      host.conversation.expect(
        asked(scene, "check-deny").at(-1)?.includes("not on my watch") === true,
        "the model to be told the reason",
        cancelled,
      );
      host.conversation.expect(!existsSync(join(scene.folder, "a.txt")), "no file of a denied call", request);
    },
    async D7(scene) {
      scene.model.script("check-always", [{ wants: [write("a.txt")] }, { wants: [write("b.txt")] }, DONE]);
      const host = await open(scene);
      host.message("m1", "check-always");
      host.answer(await host.request(), "always");
      await host.endsUnasked("m1", 1, "no request for a category that always covers");
      wrote(host, scene, "b.txt");
    },
    async D8(scene) {
      scene.model.script("check-other", [{ wants: [write("a.txt")] }, { wants: [exec("true")] }, DONE]);
      const host = await open(scene);
      host.message("m1", "check-other");
      host.answer(await host.request(), "always");
      await asksAgain(host, "m1", "a request for a call of another category");
    },
    async D9(scene) {
      scene.model.script("check-once", [{ wants: [write("a.txt")] }, { wants: [write("b.txt")] }, DONE]);
      const host = await open(scene);
      host.message("m1", "check-once");
      host.answer(await host.request(), "approve");
      await asksAgain(host, "m1", "a request for the next call after scope once");
    },
    async D10(scene) {
      scene.model.script("check-edits", [{ wants: [write("a.txt")] }, { wants: [exec("true")] }, DONE]);
      const host = await open(scene);
      host.mode("auto_edit");
      host.message("m1", "check-edits");
      const request = await host.conversation.next("a request for the command", (rec) => is("tool_request")(rec) || is("stream_end")(rec));
      host.conversation.expect(textAt(request, "tool", "category") === "exec", "a request for the command alone in auto_edit", request);
      host.answer(request, "approve");
      await host.end("m1");
      wrote(host, scene, "a.txt");
    },
    async D11(scene) {
      scene.model.script("check-yolo", [{ wants: [exec("true"), write("a.txt")] }, DONE]);
      const host = await open(scene);
      host.mode("yolo");
      host.message("m1", "check-yolo");
      await host.endsUnasked("m1", 0, "no request in yolo");
      wrote(host, scene, "a.txt");
    },
    async D12(scene) {
      scene.model.script("check-keep", [{ wants: [write("a.txt")] }, DONE]);
      scene.model.script("check-back", [{ wants: [write("b.txt")] }, { wants: [exec("true")] }, DONE]);
      const host = await open(scene);
      host.message("m1", "check-keep");
      host.answer(await host.request(), "always");
      await host.end("m1");
      host.mode("yolo");
      host.mode("default");
      host.message("m2", "check-back");
      const isNext = (rec: Readonly<Record<string, unknown>>): boolean =>
        rec === host.requests[1] || is("stream_end", { msg_id: "m2" })(rec);
      const next = await host.conversation.next("a request for the command", isNext);
      host.conversation.expect(textAt(next, "tool", "category") === "exec", "a request for the command alone, back in default", next);
      host.answer(next, "approve");
      await host.end("m2");
      wrote(host, scene, "b.txt");
    },
    async D13(scene) {
      scene.model.script("check-auto", [{ wants: [exec("true"), write("a.txt")] }, DONE]);
      const host = await StreamHost.open(scene, "input", { config: { mode: "yolo" } });
      host.message("m1", "check-auto");
      await host.endsUnasked("m1", 0, "no request after --auto-approve");
      wrote(host, scene, "a.txt");
    },
    async D15(scene) {
      scene.model.script("check-both", [{ wants: [exec("echo one"), exec("echo two")] }, DONE]);
      const host = await open(scene);
      host.message("m1", "check-both");
      const [first, second] = [await host.request(1), await host.request(2)];
      host.answer(second, "approve");
      await host.conversation.next("the result of the second call", is("tool_result", { call_id: second["call_id"] }));
      const story = host.story(first["call_id"]);
      host.conversation.expect(story === "tool_request", "the first request to wait while the second call runs", first);
      host.answer(first, "deny", "no");
      await host.conversation.next("tool_cancelled of the first call", is("tool_cancelled", { call_id: first["call_id"] }));
      await host.end("m1");
    },
    async D16(scene) {
      scene.model.script("check-endless", [{ text: ["one "], isEndless: true }]);
      scene.model.script("check-next", [{ text: ["next"] }]);
      const host = await open(scene);
      host.message("m1", "check-endless");
      await host.conversation.next("text_delta", is("text_delta"));
      host.conversation.say({ type: "stop" });
      await host.end("m1");
      host.message("m2", "check-next");
      await host.end("m2");
      const again = host.conversation.all(is("stream_end", { msg_id: "m1" }))[1];
      host.conversation.expect(again === undefined, "one stream_end of the stopped message", again);
      const text = host.textOf("m2");
      host.conversation.expect(text === "next", "the answer to the message behind the stop");
    },
    async D17(scene) {
      scene.model.script("check-sleep", [{ wants: [exec(STAYS)] }, DONE]);
      const host = await open(scene);
      host.message("m1", "check-sleep");
      host.answer(await host.request(), "approve");
      const pid = await startedPid(scene);
      host.conversation.say({ type: "stop" });
      await host.end("m1");
      await scene.until("the end of the command's processes", () => !lives(pid));
    },
    async D18(scene) {
      scene.model.script("check-wait", [{ wants: [write("a.txt")] }, DONE]);
      const host = await open(scene);
      host.message("m1", "check-wait");
      const request = await host.request();
      host.conversation.say({ type: "stop" });
      await host.end("m1");
      host.answer(request, "approve");
      await scene.pause();
      host.conversation.expect(!existsSync(join(scene.folder, "a.txt")), "nothing to run after a late approval", request);
      const late = host.conversation.all(is("tool_running", { call_id: request["call_id"] }))[0];
      host.conversation.expect(late === undefined, "nothing to run after a late approval", late);
    },
    async D19(scene) {
      const host = await open(scene);
      for (const nth of [1, 2]) await host.refused("this is no JSON", "a line that is no JSON", nth);
    },
    async D20(scene) {
      const host = await open(scene);
      const error = await host.refused({ type: "parley_check" }, "an unknown command");
      host.conversation.expect(
        textAt(error, "error", "message").includes("parley_check"),
        "the unknown command's name in the error",
        error,
      );
    },
    async D21(scene) {
      const host = await open(scene);
      for (const [n, line] of ['{"msg_id":"x"}', "[]", '"s"'].entries()) await host.refused(line, `the line ${line}`, n + 1);
    },
    async D22(scene) {
      const host = await open(scene);
      await host.refused({ type: "message", input: "x" }, "a message without an id", 1);
      await host.refused({ type: "message", msg_id: "m" }, "a message without a text", 2);
    },
    D23: (scene) => failing(scene, 429, true),
    D24: (scene) => failing(scene, 401, false),
    async D25(scene) {
      const conversation = await scene.start({ isKeyless: true });
      const { code } = await conversation.left();
      const [ready] = conversation.all(is("ready"));
      conversation.expect(ready === undefined, "no ready without a key", ready);
      const [error] = conversation.all(is("error"));
      conversation.expect(at(error, "error", "code") === "config_error", "config_error without a key", error);
      conversation.expect(code !== 0, "a failing exit without a key", error);
    },
    async D26(scene) {
      scene.model.script("check-told", [{ text: ["noted"] }]);
      scene.model.script("check-again", [{ text: ["still noted"] }]);
      const first = await StreamHost.open(scene, "input", { sessionId: "check-session" });
      first.message("m1", "check-told");
      await first.end("m1");
      first.conversation.leave();
      await first.conversation.left();
      const twice = await scene.start({ sessionId: "check-session" });
      await twice.left();
      twice.expect(twice.all(is("ready")).length === 0, "no ready for a session id that is used", twice.all(is("ready"))[0]);
      for (const resume of ["check-session", "latest"]) {
        const host = await StreamHost.open(scene, "input", { resume });
        host.message("m2", "check-again");
        await host.end("m2");
        const last = asked(scene, "check-again").at(-1) ?? "";
        host.conversation.expect(last.includes("check-told"), `the history of the session after --resume ${resume}`);
        host.conversation.leave();
        await host.conversation.left();
      }
    },
    async D27(scene) {
      scene.model.script("check-history", [DONE]);
      const host = await open(scene);
      host.conversation.say({ type: "init_history", text: "We spoke of grey herons." });
      host.message("m1", "check-history");
      const end = await host.end("m1");
      host.conversation.expect(
        asked(scene, "check-history")[0]?.includes("grey herons") === true,
        "the history in the model's request",
        end,
      );
    },
    async D28(scene) {
      scene.model.script("check-files", [DONE]);
      writeFileSync(join(scene.folder, "notes.txt"), "buy oat milk\n");
      const host = await open(scene);
      host.message("m1", "check-files", [join(scene.folder, "notes.txt"), join(scene.folder, "gone.txt")]);
      const end = await host.end("m1");
      host.conversation.expect(asked(scene, "check-files")[0]?.includes("buy oat milk") === true, "the file in the model's request", end);
      const told = host.conversation
        .all((rec) => is("error")(rec) || is("info")(rec))
        .some((rec) => JSON.stringify(rec).includes("gone.txt"));
      host.conversation.expect(told, "a word about the missing file", end);
    },
    async D29(scene) {
      const path = join(scene.folder, "main.txt");
      writeFileSync(path, "one\ntwo\nthree\n");
      scene.model.script("check-edit", [
        { wants: [{ kind: "read", path }] },
        { wants: [{ kind: "edit", path, from: "two", to: "2" }] },
        DONE,
      ]);
      const host = await open(scene);
      host.message("m1", "check-edit");
      await host.finish("m1");
      host.conversation.expect(readFileSync(path, "utf8").includes("2"), "the edit to be made");
      const result = host.conversation.all(is("tool_result"))[1];
      host.conversation.expect(at(result, "output_type") === "diff", "a diff as the result of an edit", result);
      host.conversation.expect(textAt(result, "metadata", "file_path") !== "", "the edited file's path in the metadata", result);
    },
    async D30(scene) {
      scene.model.script("check-term", [{ wants: [exec(STAYS)] }, DONE]);
      const idle = await open(scene);
      idle.conversation.leave();
      await idle.conversation.left();
      const busy = await open(scene);
      busy.message("m1", "check-term");
      busy.answer(await busy.request(), "approve");
      const pid = await startedPid(scene);
      process.kill(busy.conversation.pid, "SIGTERM");
      await busy.conversation.left();
      await scene.until("the end of the agent's processes", () => !lives(pid));
    },
    async D31(scene) {
      scene.model.script("check-long", [{ wants: [exec("yes 'aé🦜' | head -c 2000000")] }, DONE]);
      const host = await open(scene);
      host.message("m1", "check-long");
      await host.finish("m1");
      const [result] = host.conversation.all(is("tool_result"));
      const output = textAt(result, "output");
      host.conversation.expect(output !== "" && Buffer.byteLength(output) < 2_000_000, "a long output to be cut", result);
      host.conversation.expect(output.isWellFormed() && !output.includes("\uFFFD"), "an output that is cut at a character", result);
    },
    async D32(scene) {
      scene.model.script("check-odd", [{ wants: [exec("printf 'a\\342\\200\\250b\\033c\\001d\\n'")] }, { text: ["x\u2028", "y"] }]);
      const host = await open(scene);
      host.message("m1", "check-odd");
      await host.finish("m1");
      const [result] = host.conversation.all(is("tool_result"));
      host.conversation.expect(textAt(result, "output").includes("a\u2028b"), "the characters of the output within one line", result);
      host.conversation.expect(host.textOf("m1").includes("x\u2028y"), "the characters of the text within one line");
    },
    async D33(scene) {
      scene.model.script("check-place", [{ wants: [exec("pwd > place.txt")] }, DONE]);
      const host = await StreamHost.open(scene, "input", { cwd: "/" });
      host.message("m1", "check-place");
      await host.finish("m1");
      host.conversation.expect(existsSync(join(scene.folder, "place.txt")), "the command to work in the folder of --workspace");
    },
  },
};

function wrote(host: StreamHost, scene: Scene, name: string): void {
  host.conversation.expect(existsSync(join(scene.folder, name)), "the file that the call writes");
}

/** The next call is asked for as well, and denied. */
async function asksAgain(host: StreamHost, msg_id: string, what: string): Promise<void> {
  const isNext = (rec: Readonly<Record<string, unknown>>): boolean => rec === host.requests[1] || is("stream_end", { msg_id })(rec);
  const next = await host.conversation.next(what, isNext);
  host.conversation.expect(is("tool_request")(next), what, next);
  host.answer(next, "deny");
  await host.end(msg_id);
}

async function failing(scene: Scene, status: number, isRetryable: boolean): Promise<void> {
  scene.model.script("check-fails", [{ error: { status, message: "The scripted server refuses" } }]);
  const host = await open(scene);
  host.message("m1", "check-fails");
  await host.end("m1");
  const [error] = host.conversation.all(is("error", { msg_id: "m1" }));
  host.conversation.expect(error !== undefined, `an error with the message's id for the status ${status}`);
  host.conversation.expect(at(error, "error", "code") === "provider_error", "provider_error", error);
  host.conversation.expect(
    at(error, "error", "retryable") === isRetryable,
    `retryable ${String(isRetryable)} for the status ${status}`,
    error,
  );
}
