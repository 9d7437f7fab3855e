/** Beginning and end: signals, the end of input, a state that is taken, a configuration that is wrong. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { CTRL_D, hasTerminal, terminal } from "../process/terminal.js";
import { scratch, until } from "../support/processes.js";
import { site, type Bridge, type Site } from "./harness.js";
import { post, receiver } from "./webhook-client.js";

describe("a signal", () => {
  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("%s ends the turns, tells their chats, keeps what waits, and leaves nothing running", async (signal, code) => {
    const { here, hook, start, say } = await open();
    const bridge = await start();
    await say(bridge, `partial working; child ${here.path("child")}; await ${here.path("never")}`);
    await say(bridge, "say waited");
    await hook.sees("working");
    await until(() => existsSync(here.path("child")), "the grandchild");
    expect((await bridge.kill(signal)).code).toBe(code);
    await here.gone();
    expect(hook.texts()).toEqual([
      "working",
      expect.stringMatching(/^The bridge is shutting down, so the turn for your message \('partial/),
    ]);
    await start();
    await hook.sees("waited");
    expect(here.runs()).toHaveLength(2);
  });

  test("a second one hurries, and the user hears of it at the next start", async () => {
    const { here, hook, start, say } = await open();
    writeFileSync(
      here.path("agent.yaml"),
      `${readFileSync(here.path("agent.yaml"), "utf8")}\n`.replace(/kill_grace_secs: \d+/, "kill_grace_secs: 60"),
    );
    const bridge = await start();
    await say(bridge, `ignore TERM; partial deaf; await ${here.path("never")}`);
    await hook.sees("deaf");
    bridge.child.kill("SIGTERM");
    await bridge.hears("a second signal hurries it");
    expect((await bridge.kill("SIGTERM")).code).toBe(143);
    await here.gone();
    await start();
    await hook.sees("was cut off and is not run again by itself");
    expect(here.runs()).toHaveLength(1);
  });

  test("behind the reply, while the agent is about to leave: the reply arrives", async () => {
    const { here, hook, start, say } = await open();
    const bridge = await start("state", "leaving.yaml");
    await say(bridge, "hello");
    await until(() => existsSync(here.path("runs.jsonl.leaving")), "the agent to leave");
    bridge.child.kill("SIGTERM");
    await bridge.hears("the bridge ends");
    writeFileSync(here.path("runs.jsonl.go"), "");
    expect((await bridge.exited).code).toBe(143);
    expect(hook.texts()).toEqual(["the whole reply"]);
  });

  test("while the receiver does not answer: the end comes all the same, and the words after the next start", async () => {
    const { here, hook, start, say } = await open({ shutdownSeconds: 1 });
    const bridge = await start();
    hook.answer = () => 503;
    await say(bridge, "say hello");
    await hook.sees("hello");
    expect((await bridge.kill("SIGTERM")).code).toBe(143);
    hook.answer = () => 200;
    await start();
    await until(() => hook.got.at(-1)?.repeated === true, "the repeated delivery");
    expect(new Set(hook.got.map(({ id }) => id)).size).toBe(1);
    expect(here.runs()).toHaveLength(1);
  });

  test("while an agent is far ahead of a chat that takes nothing", async () => {
    const { here, hook, start, say } = await open({ shutdownSeconds: 1 });
    const bridge = await start();
    hook.answer = () => 503;
    await say(bridge, `partial first; flood 500; touch ${here.path("done")}; await ${here.path("never")}`);
    await hook.sees("first");
    await until(() => existsSync(here.path("done")), "the agent to be done");
    expect((await bridge.kill("SIGTERM")).code).toBe(143);
    await here.gone();
    hook.answer = () => 200;
    await start();
    await hook.sees("The bridge is shutting down");
    expect(hook.texts().join("")).toMatch(/^firstx{60000,}[^x]*The bridge/);
  });

  test("and /stop, while /new waits for somebody else's turn in the same conversation", async () => {
    const { here, hook, start, say } = await open();
    const other = await start();
    await say(other, `partial mine; await ${here.path("never")}`);
    await hook.sees("mine");
    const bridge = await start("state2");
    await say(bridge, "/new");
    await bridge.hears("this turn waits");
    await say(bridge, "/stop");
    await hook.sees("Stopped.");
    await say(bridge, "/new");
    await say(bridge, "/sessions");
    await hook.sees("* default (running)");
    expect((await bridge.kill("SIGTERM")).code).toBe(143);
    await other.kill("SIGTERM");
    await start("state2");
    await hook.sees("The next message begins a new session.");
  });

  async function open(limits: Record<string, number> = {}) {
    const here = site();
    const hook = await receiver();
    const settings = { type: "webhook", listen: 0, secretEnv: "HOOK_SECRET", callbackUrl: hook.url, allow: ["ann"] };
    const start = (stateFolder = "state", profile = "agent.yaml"): Promise<Bridge> =>
      here.start({ stateFolder, profile, limits, platforms: { hook: settings } }).up();
    const say = (bridge: Bridge, text: string) => post(bridge.url, { id: randomUUID(), chat: "c", from: "ann", text });
    return { here, hook, start, say };
  }
});

describe("the console", () => {
  test("answers lines, streams, and ends with its input once all is said", async () => {
    const here = site();
    const bridge = await here.start({ platforms: { me: { type: "console" } } }).up();
    bridge.child.stdin.end("partial one ; partial two; say three\n\nsay four");
    expect((await bridge.exited).code).toBe(0);
    expect(bridge.stdout).toBe("onetwo\nthree\nfour\n");
    await here.gone();
  });

  test("a streamed answer ends its line as soon as its turn is over", async () => {
    const here = site();
    const bridge = await here.start({ platforms: { me: { type: "console" } } }).up();
    bridge.child.stdin.write("partial one; partial two\n");
    await until(() => bridge.stdout === "onetwo\n", "the end of the line");
    bridge.child.stdin.end("partial three\n");
    expect((await bridge.exited).code).toBe(0);
    expect(bridge.stdout).toBe("onetwo\nthree\n");
  });

  test.skipIf(!hasTerminal)("an agent does not steer the terminal", async () => {
    const folder = scratch();
    writeFileSync(join(folder, "agent.yaml"), stringify({ command: "printf", args: [String.raw`\033[2Jreply\n`] }));
    writeFileSync(join(folder, "bridge.yaml"), stringify({ profile: "agent.yaml", platforms: { me: { type: "console" } } }));
    const screen = terminal(["bridge", "serve", "bridge.yaml"], { PARLEY_HOME: folder }, folder);
    await screen.type("the bridge is up", "hello\n");
    await screen.type("reply", CTRL_D);
    expect(await screen.exited).toBe(0);
    expect(screen.raw).toContain("\\u001b[2Jreply");
  });

  test("nobody is left to answer a permission once its input has ended", async () => {
    const here = site();
    const bridge = await here.start({ profile: "asking.yaml", platforms: { me: { type: "console" } } }).up();
    bridge.child.stdin.end("rm -rf build\nmake\n");
    expect((await bridge.exited).code).toBe(0);
    expect(bridge.stdout).toBe("deny Nobody is there to answer.\n".repeat(2));
  });

  test("an empty list is nobody there, too", async () => {
    const here = site();
    const bridge = await here.start({ platforms: { me: { type: "console", allow: [] } } }).up();
    bridge.child.stdin.end("say hi\n");
    expect((await bridge.exited).code).toBe(0);
    expect(bridge.stdout).toContain("You are not on this bridge's list of senders.");
    expect(here.runs()).toEqual([]);
  });
});

test("a state that another bridge has is refused", async () => {
  const here = site();
  await here.start({ platforms: { me: { type: "console" } } }).up();
  const second = here.start({ platforms: { me: { type: "console" } } });
  expect((await second.exited).code).toBe(1);
  expect(second.stderr).toMatch(/parley: The bridge's state in .*state is in use by process \d+/);
});

test("a state that cannot be kept is told with what to do", async () => {
  const here = site();
  writeFileSync(here.path("state"), "");
  const bridge = here.start({ platforms: { me: { type: "console" } } });
  expect((await bridge.exited).code).toBe(1);
  expect(bridge.stderr).toMatch(
    /^parley: The bridge's state cannot be kept in .*state \(ENOTDIR.*\); 'stateFolder' names another folder\n$/,
  );
});

test("a disk that takes no more: nothing is accepted that could be lost, the bridge ends, and makes good what it had accepted", async () => {
  const here = site();
  const hook = await receiver();
  const config = { platforms: { hook: { type: "webhook", listen: 0, secretEnv: "HOOK_SECRET", callbackUrl: hook.url, allow: ["ann"] } } };
  const full = await here.startOnFullDisk(8, config).up();
  const accepted: string[] = [];
  for (let count = 0; full.child.exitCode === null && count < 100; count++) {
    const id = `m${count}`;
    const status = await post(full.url, { id, chat: id, from: "ann", text: `say ${"x".repeat(300)}` }).then(
      (posted) => posted.status,
      () => 0,
    );
    if (status !== 200) break;
    accepted.push(id);
  }
  expect((await full.exited).code).toBe(1);
  expect(full.stderr).toMatch(/the bridge ends: its journal in .* cannot be written: EFBIG/);
  expect(accepted.length).toBeGreaterThan(2);
  await here.start(config).up();
  for (const id of accepted) await until(() => hook.got.some(({ inReplyTo }) => inReplyTo === id), `an answer to ${id}`);
});

test("a platform that cannot start ends the bridge, with every other", async () => {
  const here = site();
  const first = await here.start({ platforms: { a: webhook("127.0.0.1:0") } }).up();
  const second = here.start({ stateFolder: "state2", platforms: { me: { type: "console" }, a: webhook(new URL(first.url).host) } });
  expect((await second.exited).code).toBe(1);
  expect(second.stderr).toMatch(/parley: Could not listen on 127.0.0.1:\d+: .*EADDRINUSE/);

  function webhook(listen: string) {
    return { type: "webhook", listen, secretEnv: "HOOK_SECRET", callbackUrl: "http://127.0.0.1:1/", allow: ["ann"] };
  }
});

describe("the platform of somebody else", () => {
  const example = join(import.meta.dirname, "../../examples/file-drop-platform");

  test("as the example has it: a file is a message, and the answer a file", async () => {
    const here = site();
    const bridge = await here.start(exampleIn(here)).up();
    writeFileSync(here.path("drop/in/ann.txt"), "hello, folder");
    const answer = here.path("drop/out/ann.txt");
    await until(() => existsSync(answer) && readFileSync(answer, "utf8") === "HELLO, FOLDER\n", "the answer");
    expect((await bridge.kill("SIGTERM")).code).toBe(143);
    await here.gone();
  });

  test.each([
    ["export const x = 1;", "its default export must be a function (options, context) => platform"],
    ["export default () => ({ start() {} });", "what it makes must have limits.text, start, send, pause and stop"],
    ["export default () => { throw new Error('no such folder'); };", "no such folder"],
    ["syntax error", "it could not be loaded"],
  ])("that is none is told: %s", async (source, words) => {
    const here = site();
    writeFileSync(here.path("mine.mjs"), source);
    const bridge = here.start({ platforms: { mine: { module: "./mine.mjs", allow: ["*"] } } });
    expect((await bridge.exited).code).toBe(1);
    expect(bridge.stderr).toContain(words);
  });

  test("that keeps nothing open and fails wherever it can: the bridge stays up, delivers, and ends in order", async () => {
    const here = site();
    writeFileSync(
      here.path("mine.mjs"),
      `import { appendFileSync } from "node:fs";
       let sends = 0;
       const fail = () => { throw new Error("no"); };
       export default () => ({
         limits: { text: 100 },
         start: (inbox) => inbox.accept({ chat: "c", from: "x", text: "say hello" }),
         send: ({ text }) => {
           sends++;
           if (sends === 1) fail();
           if (sends > 2) appendFileSync("said", text);
           return sends === 2 ? undefined : { status: "sent" };
         },
         typing: fail,
         pause: fail,
         stop: fail,
       });`,
    );
    const bridge = await here.start({ platforms: { mine: { module: "./mine.mjs", allow: ["*"] } } }).up();
    await until(() => here.journal().includes('"delivered"'), "the delivery");
    expect(readFileSync(here.path("said"), "utf8")).toBe("hello");
    expect(bridge.child.exitCode).toBeNull();
    expect((await bridge.kill("SIGTERM")).code).toBe(143);
    await here.gone();
    expect(existsSync(here.path("state/lock"))).toBe(false);
  });

  test("whose answer to a delivery is none of the three: unknown, told, and tried again as a repetition", async () => {
    const here = site();
    writeFileSync(
      here.path("mine.mjs"),
      `import { appendFileSync } from "node:fs";
       let sends = 0;
       export default () => ({
         limits: { text: 100 },
         async start(inbox) {
           for (const text of ["say hello", "say rejected"]) await inbox.accept({ chat: "c", from: "x", text, key: undefined });
         },
         send({ text, repeated }) {
           appendFileSync("said", text + " " + repeated + "\\n");
           return [undefined, "sent", { status: "sent", ref: 7 }, { status: "rejected", reason: new Error("no") }][++sends];
         },
         async pause() {},
         async stop() {},
       });`,
    );
    const bridge = await here.start({ platforms: { mine: { module: "./mine.mjs", allow: ["*"] } } }).up();
    await until(() => here.journal().includes("did not say why"), "the delivery");
    expect(readFileSync(here.path("said"), "utf8")).toBe("hello false\nhello true\nrejected false\n");
    expect(bridge.stderr).toContain("is tried again: what its 'send' answered is no delivery");
  });

  test("that leaves out what a message needs: what can be kept through a crash is kept, and the rest is refused in words", async () => {
    const here = site();
    writeFileSync(
      here.path("mine.mjs"),
      `import { writeFileSync } from "node:fs";
       export default ({ name }) => ({
         limits: { text: 100 },
         async start(inbox) {
           const message = (key) => ({ chat: "c", from: "x", key, text: key === "0" ? "await never" : "say hello", attachments: [{ type: "photo", url: "https://x/y" }] });
           const verdicts = [];
           for (const key of ["0", "1", "1"]) verdicts.push(await inbox.accept(message(key)));
           verdicts.push(await inbox.accept({ ...message("2"), chat: 7 }));
           writeFileSync(name, JSON.stringify(verdicts));
         },
         async send() { return { status: "sent" }; },
         async pause() {},
         async stop() {},
       });`,
    );
    const verdicts = (name: string): unknown => JSON.parse(readFileSync(here.path(name), "utf8"));
    const config = (name: string) => ({ platforms: { mine: { module: "./mine.mjs", options: { name }, allow: ["*"] } } });
    const first = await here.start(config("first")).up();
    await until(() => here.runs().length === 1, "the first turn");
    await first.kill("SIGKILL");
    expect(verdicts("first")).toMatchObject([
      { accepted: true },
      { accepted: true },
      { duplicate: true },
      { accepted: false, why: "invalid" },
    ]);
    expect(first.stderr).toContain("'mine' handed over a message that cannot be taken: chat");
    const second = await here.start(config("second")).up();
    await until(() => here.runs().length === 2, "the second turn");
    expect(verdicts("second")).toMatchObject([{ duplicate: true }, { duplicate: true }, { duplicate: true }, { accepted: false }]);
    expect(here.runs()[1]?.attachments).toContain("https://x/y");
    expect(second.stderr).not.toContain("could not be read");
    await second.kill("SIGKILL");
    await here.gone();
  });

  test("as the example has it: what comes at the end of the bridge waits for the next start", async () => {
    const folder = scratch();
    const { default: fileDrop } = await import(join(example, "platform.mjs"));
    const platform = await fileDrop({ folder }, { folder });
    writeFileSync(join(folder, "in/ann.txt"), "hello");
    await new Promise<void>((resolve) => {
      const accept = async () => (resolve(), { accepted: false, why: "stopping", text: "" });
      void platform.start({ accept, allows: () => true, ended() {}, log() {} });
    });
    await platform.pause();
    expect(readFileSync(join(folder, "in/ann.txt"), "utf8")).toBe("hello");
  });

  function exampleIn(here: Site): Record<string, unknown> {
    const config = parse(readFileSync(join(example, "bridge.yaml"), "utf8"));
    mkdirSync(here.path("drop"));
    const folder = { ...config.platforms.folder, module: join(example, "platform.mjs"), options: { folder: here.path("drop") } };
    return { profile: join(example, "agent.yaml"), platforms: { folder } };
  }
});

describe("a configuration", () => {
  test.each([
    ["platforms: {}", "bridge.yaml:1:12: platforms must have at least one platform"],
    ["profile: agent.yaml", "must have 'platforms'"],
    [
      "platforms:\n  a: { type: fax }",
      "bridge.yaml:2:14: platforms.a.type must be one of console, webhook, telegram; or give a 'module', not \"fax\"",
    ],
    ["platforms:\n  a: { typ: console }", "bridge.yaml:2:8: unknown key 'typ' in platforms.a; did you mean 'type'?"],
    ["platforms:\n  a:\n    type: console\n    alow: [x]", "bridge.yaml:4:5: unknown key 'alow' in platforms.a; did you mean 'allow'?"],
    ["platforms:\n  a: { type: console }", "bridge.yaml:2:3: platforms.a has no profile, and there is none for all"],
    ["profile: x\nplatforms:\n  a b: { type: console }", "platforms must have names of up to 32 letters, digits, dashes and underscores"],
    [
      "profile: x\nlimits: { turns: 0 }\nplatforms:\n  a: { type: console }",
      "bridge.yaml:2:18: limits.turns must be a whole number from 1 to 1000, not 0",
    ],
    [
      "profile: x\nplatforms:\n  a: { type: webhook, listen: x, secretEnv: S, callbackUrl: 'http://example.com' }",
      "platforms.a.callbackUrl must be an https URL, or an http one of this machine",
    ],
    [
      "profile: x\nplatforms:\n  a: { type: webhook, listen: x, secretEnv: S, callbackUrl: 'https://example.com' }",
      "platforms.a.listen must be HOST:PORT",
    ],
    [
      "profile: x\nplatforms:\n  a: { type: webhook, listen: 99999, secretEnv: S, callbackUrl: 'https://example.com' }",
      "bridge.yaml:3:31: platforms.a.listen must be HOST:PORT",
    ],
    [
      "profile: x\nplatforms:\n  a: { type: webhook, listen: 1, secretEnv: S, callbackUrl: 'https://ann:pass@example.com' }",
      "platforms.a.callbackUrl must be an https URL, or an http one of this machine, without a name and a password",
    ],
    [
      "profile: x\nplatforms:\n  a: { type: telegram, baseUrl: 'ftp://example.com' }",
      "bridge.yaml:3:33: platforms.a.baseUrl must be an http or https URL, without a name and a password",
    ],
    [
      "profile: x\nplatforms:\n  a: { type: telegram, baseUrl: 'http://ann:pass@example.com' }",
      "platforms.a.baseUrl must be an http or https URL, without a name and a password",
    ],
    [
      "profile: x\nplatforms:\n  a: { type: console }\n  b: { type: console }",
      "bridge.yaml:4:3: platforms.b is a second console, and there is one terminal",
    ],
    [
      "profile: x\nplatforms:\n  a: { type: console, allow: [1.5] }",
      'bridge.yaml:3:31: platforms.a.allow[0] must be a sender\'s id, or "*" for everybody, not 1.5',
    ],
    ["profile: nowhere\nplatforms:\n  a: { type: console }", "There is no profile 'nowhere'"],
    ["profile: ./nowhere.yaml\nplatforms:\n  a: { type: console }", "nowhere.yaml'"],
    ["profile: [", "bridge.yaml:1:11: "],
  ])("that is wrong is told with file, line and key: %j", async (text, words) => {
    const here = site();
    const bridge = here.startWith(text);
    expect((await bridge.exited).code).toBe(1);
    expect(bridge.stderr).toContain(words);
  });

  test("without a state folder has one in PARLEY_HOME", async () => {
    const here = site();
    const bridge = await here.start({ stateFolder: undefined, platforms: { me: { type: "console" } } }).up();
    bridge.child.stdin.end();
    await bridge.exited;
    expect(existsSync(here.path("home/bridge-serve"))).toBe(true);
  });
});
