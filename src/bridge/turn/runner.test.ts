import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { Bench, node, P, S, says, sh } from "../../../test/bridge/harness.js";
import { until } from "../../../test/support/processes.js";
import { loadProfile } from "../profile/file.js";
import { createRunner } from "./runner.js";
import type { BridgeTurn, Runner, TurnEvents } from "./turn.js";

const turn = (message = "hi", sessionName = "default"): BridgeTurn => ({ message, sessionName, from: "ann", attachments: [] });
const never = new AbortController().signal;
const quiet: TurnEvents = { partial() {}, warning() {}, permission: async () => ({ behavior: "deny" }) };

async function runnerOf(bench: Bench): Promise<Runner> {
  const { profile } = await loadProfile(join(bench.folder, "profile.yaml"));
  return createRunner(profile, { env: bench.env, cwd: bench.folder });
}

/** Says that it runs, and goes on until a file appears. */
const WAITS = sh(
  `echo begin >> log; echo '${P}"on"'; while [ ! -e go ]; do sleep 0.05; done; echo end >> log; echo "${S}s"; echo "had '$AGENT_SESSION_ID'"`,
);

describe("a runner", () => {
  test("runs the turns of one conversation in order, and others beside them", async () => {
    const bench = new Bench(WAITS);
    const runner = await runnerOf(bench);
    const results = [turn("1"), turn("2"), turn("3", "other")].map((each) => runner.run(each, quiet, never));
    const log = (): string => (existsSync(join(bench.folder, "log")) ? readFileSync(join(bench.folder, "log"), "utf8") : "");
    await until(() => log() === "begin\nbegin\n", "two of them to begin");
    bench.write("go", "");
    expect((await Promise.all(results)).map(({ reply }) => reply)).toEqual(["had ''", "had 's'", "had ''"]);
    await runner.forget("default", { warning: () => {} }, new AbortController().signal);
    expect((await runner.run(turn(), quiet, never)).reply).toBe("had ''");
    await runner.close();
    await bench.processes.gone();
  });

  test("ends a turn that is aborted, and does not begin one that waits", async () => {
    const bench = new Bench(WAITS);
    const runner = await runnerOf(bench);
    const [first, second] = [new AbortController(), new AbortController()];
    const running = runner.run(turn(), { ...quiet, partial: () => second.abort() }, first.signal);
    const waiting = runner.run(turn(), quiet, second.signal);
    expect(await waiting).toMatchObject({ exitCode: 130, error: "The turn was interrupted", processExitCode: null });
    first.abort();
    expect(await running).toMatchObject({ exitCode: 143, error: "The turn was interrupted", signal: "SIGTERM", timedOut: false });
    expect(readFileSync(join(bench.folder, "log"), "utf8")).toBe("begin\n");
    await bench.processes.gone();
    await runner.close();
  });

  test("lets nobody wait who has left before", async () => {
    const bench = new Bench(WAITS);
    const runner = await runnerOf(bench);
    const first = new AbortController();
    const begun = new Promise<void>((resolve) => {
      void runner.run(turn(), { ...quiet, partial: () => resolve() }, first.signal);
    });
    await begun;
    expect(await runner.run(turn(), quiet, AbortSignal.abort())).toMatchObject({ exitCode: 130, error: "The turn was interrupted" });
    await expect(runner.forget("default", quiet, AbortSignal.abort())).rejects.toThrow("aborted");
    await runner.close();
    await bench.processes.gone();
  });

  test("ends what runs when it is closed", async () => {
    const bench = new Bench(WAITS);
    const runner = await runnerOf(bench);
    let closed: Promise<void> | undefined;
    const partial = (): void => void (closed ??= runner.close());
    const results = await Promise.all(["a", "b"].map((name) => runner.run(turn("x", name), { ...quiet, partial }, never)));
    for (const { exitCode, error } of results) expect([exitCode > 0, error]).toEqual([true, "The turn was interrupted"]);
    await closed;
    expect(await runner.run(turn(), quiet, never)).toMatchObject({ exitCode: 130 });
    await bench.processes.gone();
  });

  test("never rejects, whatever its listener does", async () => {
    const broken = await runnerOf(new Bench(says(`${P}"x"`, "y")));
    const partial = (): void => {
      throw new Error("no paper");
    };
    expect(await broken.run(turn(), { ...quiet, partial }, never)).toMatchObject({ exitCode: 1, error: "no paper", reply: "" });
    const odd = await runnerOf(new Bench(says(`${P}no JSON`, "y"), { env: { X: "${NOPE}" }, env_allowlist: [] }));
    const warning = (): void => {
      throw new Error("no paper");
    };
    expect(await odd.run(turn(), { ...quiet, warning }, never)).toMatchObject({ exitCode: 0, reply: "y" });
    const failing = await runnerOf(new Bench(sh("echo why >&2; exit 3"), { send_error_reply: false }));
    expect(await failing.run(turn(), { ...quiet, warning }, never)).toMatchObject({ exitCode: 3, error: "" });
    const asks = node(`
      console.log(JSON.stringify({ type: "permission_request", request_id: "r", tool_name: "Bash", input: {} }));
      process.stdin.on("data", (text) => {
        if (!String(text).includes("permission_response")) return;
        console.log(JSON.stringify({ type: "result", text: String(text).trim() }));
        process.stdin.destroy();
      });`);
    const asking = await runnerOf(new Bench(asks, { protocol: "0.4", permission: true }));
    const permission = async (): Promise<never> => Promise.reject(new Error("nobody home"));
    const mute = vi.fn<TurnEvents["permission"]>();
    for (const each of [permission, mute]) {
      const { reply } = await asking.run(turn(), { ...quiet, permission: each }, never);
      expect(reply).toContain('"behavior":"deny","message":"nobody could be asked"');
    }
  });

  test("takes the time in which an agent waits for somebody's word for no silence of its own", async () => {
    const asks = sh(`
      echo '${P}"on"'
      echo 'AGENT_PERMISSION_REQUEST:{"request_id":"r","tool_name":"Bash","input":{}}'
      read line
      case "$line" in *allow*) echo '${P}"allowed"';; esac
      sleep 300`);
    const runner = await runnerOf(new Bench(asks, { protocol: "0.2", permission: true, idle_timeout_secs: 1.5, kill_grace_secs: 0 }));
    const late = async (isLate: { partial: number; permission: number }) => {
      const heard: string[] = [];
      const partial = (text: string) => after(isLate.partial).then(() => void heard.push(text));
      const permission = () => after(isLate.permission, { behavior: "allow" as const });
      const { timedOut } = await runner.run(turn("x", String(isLate.partial)), { ...quiet, partial, permission }, never);
      return { heard, timedOut };
    };
    const both = await Promise.all([late({ partial: 2000, permission: 0 }), late({ partial: 0, permission: 2000 })]);
    for (const each of both) expect(each).toEqual({ heard: ["on", "allowed"], timedOut: true });
  });

  test("holds the agent back while its listener is slow, and loses nothing", async () => {
    const bench = new Bench(node(`for (let n = 0; n < 3000; n++) console.log('${P}' + JSON.stringify(n + "x".repeat(10000)))`), {
      max_reply_chars: 1e9,
    });
    const heard: number[] = [];
    let release: () => void = () => {};
    const slow = new Promise<void>((resolve) => (release = resolve));
    const partial = (text: string): void | Promise<void> => {
      heard.push(Number.parseInt(text, 10));
      if (heard.length === 1) return slow;
    };
    const runner = await runnerOf(bench);
    const result = runner.run(turn(), { ...quiet, partial }, never);
    await until(() => heard.length === 1, "the first piece");
    release();
    expect(await result).toMatchObject({ exitCode: 0, truncated: false });
    expect(heard).toEqual(Array.from({ length: 3000 }, (_, n) => n));
    await bench.processes.gone();
  });

  test("tells when a question is denied at the latest", async () => {
    const asks = node(
      `console.log(JSON.stringify({ type: "permission_request", request_id: "r", tool_name: "Bash", input: { a: 1 }, description: "why" }));`,
    );
    const runner = await runnerOf(new Bench(asks, { protocol: "0.4", permission: true, timeout_secs: 20 }));
    const requests: unknown[] = [];
    const before = Date.now();
    await runner.run(turn(), { ...quiet, permission: async (request) => (requests.push(request), { behavior: "deny" }) }, never);
    expect(requests).toEqual([{ id: "r", tool: "Bash", input: { a: 1 }, description: "why", deadline: expect.any(Number) }]);
    const { deadline } = requests[0] as { deadline: number };
    expect(deadline).toBeGreaterThan(before);
    expect(deadline).toBeLessThanOrEqual(Date.now() + 20_000);
  });

  test("tells the session that is stored, also where nothing ran", async () => {
    const bench = new Bench(says(`${S}kept`));
    const runner = await runnerOf(bench);
    expect((await runner.run(turn(), quiet, never)).sessionId).toBe("kept");
    expect(await runner.run(turn(), quiet, AbortSignal.abort())).toMatchObject({ exitCode: 130, sessionId: "kept" });
    await runner.close();
  });

  test("passes on files of this machine only where its owner may name them, or a platform put them", async () => {
    const bench = new Bench(sh('echo "$AGENT_FILE_URL"'));
    const { profile } = await loadProfile(join(bench.folder, "profile.yaml"));
    const ran = async (url: string, files?: string): Promise<{ reply: string; error: string }> => {
      const runner = createRunner(profile, { env: bench.env, cwd: bench.folder, ...(files !== undefined && { files }) });
      const { reply, error } = await runner.run({ ...turn(), attachments: [{ type: "file", url, name: "" }] }, quiet, never);
      await runner.close();
      return { reply, error };
    };
    const files = join(bench.folder, "files");
    mkdirSync(files);
    writeFileSync(join(files, "a b.txt"), "");
    symlinkSync(join(bench.folder, "profile.yaml"), join(files, "link"));
    const outside = pathToFileURL(join(bench.folder, "profile.yaml")).href;
    expect(await ran(outside)).toEqual({ reply: outside, error: "" });
    for (const url of ["https://a.example/x", "HTTP://a.example/x", "data:,x", pathToFileURL(join(files, "a b.txt")).href])
      expect(await ran(url, files)).toEqual({ reply: url, error: "" });
    for (const url of [
      outside,
      ` ${outside}`,
      outside.replace("file:", "FILE:"),
      `${pathToFileURL(files).href}/../profile.yaml`,
      `${pathToFileURL(files).href}/%2e%2e/profile.yaml`,
      pathToFileURL(join(files, "link")).href,
      pathToFileURL(join(files, "none")).href,
      pathToFileURL(files).href,
      "/etc/passwd",
      "ftp://a.example/x",
      "",
    ]) {
      expect(await ran(url, files)).toEqual({ reply: "", error: expect.stringContaining("is not passed on") });
    }
    await bench.processes.gone();
  });
});
