import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { until } from "../support/processes.js";
import { site, type Bridge, type Site } from "./harness.js";
import { post, receiver, type Posted, type Receiver } from "./webhook-client.js";

interface Open {
  here: Site;
  hook: Receiver;
  bridge: Bridge;
  say(text: string, more?: Record<string, unknown>): Promise<Posted>;
}

async function open(more: Record<string, unknown> = {}, limits: Record<string, number> = {}): Promise<Open> {
  const here = site();
  const hook = await receiver();
  const settings = { type: "webhook", listen: 0, secretEnv: "HOOK_SECRET", callbackUrl: hook.url, allow: ["ann"], ...more };
  const bridge = await here.start({ limits, platforms: { hook: settings } }).up();
  return { here, hook, bridge, say: (text, rest) => post(bridge.url, { id: randomUUID(), chat: "c", from: "ann", text, ...rest }) };
}

test("a message is answered by a callback, and the session goes on", async () => {
  const { here, hook, say } = await open();
  expect(await say("session s1; say héllo 😀", { id: "m1" })).toMatchObject({ status: 200, body: { accepted: true } });
  expect(await hook.sees("héllo 😀")).toMatchObject({ chat: "c", kind: "reply", repeated: false, inReplyTo: "m1", text: "héllo 😀" });
  await say("say again");
  await hook.sees("again");
  expect(here.runs()).toMatchObject([
    { session: "", name: "hook/c/default" },
    { session: "s1", name: "hook/c/default" },
  ]);
});

test("the end of a turn is told, when there was nothing to say, too", async () => {
  const { hook, say } = await open();
  await say("session quiet", { id: "m1" });
  await until(() => hook.ended.has("m1"), "the end");
  expect(hook.got).toEqual([]);
});

test("the bridge's own secrets are no agent's, whatever it inherits", async () => {
  const { hook, say } = await open({ profile: "environment.yaml" });
  await say("which?");
  await hook.sees("HOME=");
  expect(hook.texts().join()).not.toContain("HOOK_SECRET");
});

test("what fails is told", async () => {
  const { hook, say } = await open();
  await say("error no such thing");
  expect(await hook.sees("no such thing")).toMatchObject({ kind: "notice" });
});

describe("a request", () => {
  test("that is not the sender's own, of now, and well-formed is refused before anything runs", async () => {
    const { here, bridge } = await open();
    const message = { id: "m", chat: "c", from: "ann", text: "say hi" };
    const now = Math.floor(Date.now() / 1000);
    const statuses = [
      (await post(bridge.url, message, { secret: "another secret, not ours" })).status,
      (await post(bridge.url, message, { at: now - 400 })).status,
      (await post(bridge.url, message, { at: now + 400 })).status,
      (await fetch(bridge.url, { method: "POST", body: JSON.stringify(message) })).status,
      (await fetch(bridge.url)).status,
      (await post(`${bridge.url}elsewhere`, message)).status,
      (await post(bridge.url, message, { body: "{" })).status,
      (await post(bridge.url, { id: "m", chat: "c", from: "ann" })).status,
      (await post(bridge.url, { ...message, text: " " })).status,
      (await post(bridge.url, { ...message, session: "a/b" })).status,
      (await post(bridge.url, { ...message, chat: "a\nb" })).status,
      (await post(bridge.url, { ...message, from: "e".repeat(10_000) })).status,
      (await post(bridge.url, { ...message, attachments: [{ type: "file", url: "file:///etc/passwd" }] })).status,
      (await post(bridge.url, { ...message, attachments: [{ type: "image", url: "a.png" }] })).status,
      (await post(bridge.url, { ...message, from: "eve" })).status,
    ];
    expect(statuses).toEqual([401, 401, 401, 401, 405, 404, 400, 400, 400, 400, 400, 400, 400, 400, 403]);
    expect((await post(bridge.url, { ...message, id: "" })).body).toMatchObject({ error: expect.stringMatching(/^'id' must have/) });
    expect([here.runs(), here.journal()]).toEqual([[], ""]);
    expect(bridge.stderr).toContain("refused a message of 'eve' on 'hook'");
  });

  test("that is too long is cut off", async () => {
    const { bridge } = await open();
    const answer = await post(bridge.url, { id: "m", chat: "c", from: "ann", text: "x".repeat(2_000_000) }).catch(() => ({ status: 413 }));
    expect(answer.status).toBe(413);
  });

  test("that never comes to its end takes the place of others only up to a limit", async () => {
    const { bridge, say } = await open();
    const { hostname, port } = new URL(bridge.url);
    const sockets = Array.from({ length: 400 }, () => connect(Number(port), hostname).on("error", () => {}));
    await until(() => sockets.some((socket) => socket.closed), "a connection to be refused");
    for (const socket of sockets) socket.destroy();
    await until(() => sockets.every((socket) => socket.closed), "all to be closed");
    expect(await again(say)).toBe(200);

    /** The other side of a closed connection hears of it a little later. */
    async function again(ask: Open["say"]): Promise<number> {
      for (let attempt = 0; ; attempt++) {
        const status = await ask("/help").then(
          (posted) => posted.status,
          () => 0,
        );
        if (status !== 0 || attempt === 100) return status;
      }
    }
  });

  test("that comes again is taken once", async () => {
    const { here, hook, say } = await open();
    const first = await say("say once", { id: "m1" });
    expect((await say("say once", { id: "m1" })).body).toEqual({ accepted: true, id: first.body.id, duplicate: true });
    await hook.sees("once");
    expect((await say("say once", { id: "m1" })).body).toEqual({ accepted: true, id: first.body.id, duplicate: true });
    await say("/help", { id: "m2" });
    expect((await say("/help", { id: "m2" })).body.duplicate).toBe(true);
    expect(here.runs()).toHaveLength(1);
  });
});

test("nobody may talk where the list is empty, and the start says so", async () => {
  const { bridge, say } = await open({ allow: [] });
  expect(bridge.stderr).toContain("nobody may talk on 'hook': its list 'allow' is empty");
  expect((await say("hi")).status).toBe(403);
});

describe("delivery", () => {
  test("partials come in order; what comes while the receiver is busy is joined, none is lost", async () => {
    const { here, hook, say } = await open();
    const [all, go] = [here.path("all"), here.path("go")];
    hook.answer = async (_, count) => {
      if (count === 1) await until(() => existsSync(all), "the agent to be ahead");
      return 200;
    };
    await say(`partial a;await ${go}; partial b; partial c;partial d;touch ${all}; say done`);
    await until(() => hook.got.length > 0, "the first callback");
    writeFileSync(go, "");
    await hook.sees("done");
    expect(hook.texts("c")).toEqual(["a", "bcd", "done"]);
    expect(hook.got.filter(({ chat }) => chat === "c").map(({ kind }) => kind)).toEqual(["partial", "partial", "reply"]);
  });

  test("is tried again when throttled, with the same id and no mark; after an answer that proves nothing, with a mark", async () => {
    const { hook, say } = await open();
    const answers = [{ status: 429, headers: { "retry-after": "0" } }, 503, 500, "hang up", 200] as const;
    hook.answer = (_, count) => answers[count - 1] ?? 200;
    await say("say hello");
    await until(() => hook.got.length === 5, "five attempts");
    expect(new Set(hook.got.map(({ id }) => id)).size).toBe(1);
    expect(hook.got.map(({ repeated }) => repeated)).toEqual([false, false, false, true, true]);
  });

  test("that is refused for good is given up, told, and holds up nothing", async () => {
    const { hook, bridge, say } = await open();
    hook.answer = (_, count) => (count === 1 ? 410 : 200);
    await say("say one");
    await say("say two");
    await hook.sees("two");
    expect(hook.got.map(({ text }) => text)).toEqual(["one", "two"]);
    await bridge.hears("was not delivered: the callback answered 410");
  });

  test("follows no redirect", async () => {
    const { hook, bridge, say } = await open();
    const other = await receiver();
    hook.answer = () => ({ status: 307, headers: { location: other.url } });
    await say("say secret");
    await bridge.hears("was not delivered: the callback answered 307");
    expect(other.got).toEqual([]);
  });

  test("long replies come in pieces that joined are the reply", async () => {
    const { hook, say } = await open({ maxTextLength: 100 });
    await say("long 1000; say end");
    await hook.sees("end");
    expect(hook.got.every(({ text }) => text.length <= 100)).toBe(true);
    expect(hook.texts().join("")).toBe(`${"0123456789".repeat(100)}\nend`);
  });

  test("one chat that is held up holds up no other", async () => {
    const { hook, say } = await open();
    let free = (): void => {};
    const freed = new Promise<void>((resolve) => (free = resolve));
    hook.answer = async ({ chat }) => {
      if (chat === "slow") await freed;
      return 200;
    };
    await say("say one", { chat: "slow" });
    await hook.sees("one");
    await say("say two", { chat: "fast" });
    await hook.sees("two");
    free();
  });
});

describe("conversations", () => {
  test("run side by side without a word of the other's; two messages of one come one after the other", async () => {
    const { here, hook, say } = await open();
    const [a, b] = [here.path("a"), here.path("b")];
    await say(`session sa; touch ${a}; await ${b}; say for ann`, { chat: "A" });
    await say("say second", { chat: "A" });
    await say(`session sb; touch ${b}; await ${a}; say for bob`, { chat: "B" });
    await hook.sees("second");
    await hook.sees("for bob");
    expect([hook.texts("A"), hook.texts("B")]).toEqual([["for ann", "second"], ["for bob"]]);
    expect(here.runs().find(({ message }) => message === "say second")).toMatchObject({ session: "sa", name: "hook/A/default" });
  });

  test("a full queue is answered, and so are too many conversations", async () => {
    const { here, hook, say } = await open({}, { queue: 1, conversations: 2 });
    const go = here.path("go");
    await say(`await ${go}; say one`);
    await until(() => here.runs().length === 1, "the first turn");
    await say("say two");
    const full = await say("say three");
    expect([full.status, full.body.why, full.headers.get("retry-after")]).toEqual([429, "full", "5"]);
    await say(`await ${go}; say other`, { chat: "d" });
    expect((await say("hi", { chat: "e" })).status).toBe(429);
    writeFileSync(go, "");
    await hook.sees("two");
    await hook.sees("other");
    expect([hook.texts("c"), hook.texts("d")]).toEqual([["one", "two"], ["other"]]);
    await say("say four");
    await hook.sees("four");
  });
});

describe("commands", () => {
  test("/stop ends the agent with everything that it started", async () => {
    const { here, hook, bridge, say } = await open();
    const child = here.path("child");
    await say(`partial begun; child ${child}; await ${here.path("never")}`);
    await hook.sees("begun");
    await until(() => existsSync(child) && readFileSync(child, "utf8") !== "", "the grandchild");
    await say("/stop");
    await hook.sees("Stopped.");
    expect(hook.texts()).toEqual(["begun", "Stopping.", "Stopped."]);
    await until(
      () => here.alive().every((pid) => pid === bridge.child.pid),
      () => `only the bridge to live, not ${here.alive().join()}`,
    );
    await say("/stop");
    await hook.sees("Nothing is running here.");
    await say("say next");
    await hook.sees("next");
  });

  test("/stop all forgets what waits", async () => {
    const { here, hook, say } = await open();
    await say(`await ${here.path("never")}`);
    await until(() => here.runs().length === 1, "the turn");
    await say("say waiting");
    await say("say waiting too");
    await say("/stop all");
    await hook.sees("Stopping. 2 waiting messages are forgotten.");
    await hook.sees("Stopped.");
    await say("say next");
    await hook.sees("next");
    expect(here.runs()).toHaveLength(2);
  });

  test("/new begins a new session, in order; /sessions shows and changes them", async () => {
    const { here, hook, say } = await open();
    await say("session s1; say one");
    await say("/new");
    await say("say two");
    await hook.sees("two");
    await say("/new work");
    await say("session w1; say three");
    await hook.sees("three");
    await say("/sessions");
    await hook.sees("  default\n* work");
    await say("/sessions default");
    await hook.sees("This chat is now in session 'default'.");
    await say("session d1; say four");
    await say("say five", { session: "work" });
    await hook.sees("five");
    await hook.sees("four");
    await say("/new ../etc");
    await hook.sees("'../etc' cannot be a session's name");
    await say("/sessions ..");
    await hook.sees("'..' cannot be a session's name");
    const seen = here.runs().map(({ message, session, name }) => [message, session, name.split("/")[2]]);
    expect(seen.slice(0, 3)).toEqual([
      ["session s1; say one", "", "default"],
      ["say two", "", "default"],
      ["session w1; say three", "", "work"],
    ]);
    expect(seen).toContainEqual(["session d1; say four", "", "default"]);
    expect(seen).toContainEqual(["say five", "w1", "work"]);
  });

  test("/help tells them, and an unknown one is the agent's", async () => {
    const { hook, say } = await open();
    await say("/help");
    await hook.sees("/approve ID");
    await say("/compact now");
    expect(await hook.sees("/compact now")).toMatchObject({ kind: "reply" });
  });
});

describe("a permission", () => {
  test("is asked in the chat and answered from there alone", async () => {
    const { hook, say } = await open({ profile: "asking.yaml" });
    const name = await asked(hook, say, "rm -rf build");
    await say(`/approve ${name}`, { chat: "other" });
    await hook.sees(`There is no request '${name}'`, "other");
    await say(`/approve ${name}`);
    await hook.sees(`Permission [${name}]: allowed.`);
    expect(await hook.sees("allow", "c")).toBeDefined();
    await until(() => hook.got.some(({ kind, text }) => kind === "reply" && text === "allow"), "the agent's answer");
  });

  test("is denied with a reason", async () => {
    const { hook, say } = await open({ profile: "asking.yaml" });
    const name = await asked(hook, say, "rm -rf /");
    await say(`/deny_${name} not that one`);
    await until(() => hook.got.some(({ kind, text }) => kind === "reply" && text === "deny not that one"), "the agent's answer");
  });

  test("is denied when nobody answers, and when the turn is stopped", async () => {
    const { hook, say } = await open({ profile: "asking.yaml" }, { approvalSeconds: 1 });
    await asked(hook, say, "sleep 1");
    await hook.sees("was denied, because nobody answered");
    await until(() => hook.got.some(({ kind, text }) => kind === "reply" && text.startsWith("deny")), "the agent's answer");
  });

  test("is over with the turn that asked for it", async () => {
    const { hook, say } = await open({ profile: "asking.yaml" });
    const name = await asked(hook, say, "hasty");
    await hook.sees("did not wait");
    await say(`/approve ${name}`);
    await hook.sees(`There is no request '${name}'`);
    expect(hook.texts()).not.toContain(`Permission [${name}]: allowed.`);
  });

  test("comes behind what the agent said before it, though the receiver is slow", async () => {
    const { hook, say } = await open({ profile: "asking.yaml" });
    let free = (): void => {};
    const freed = new Promise<void>((resolve) => (free = resolve));
    hook.answer = async (_, count) => {
      if (count === 1) await freed;
      return 200;
    };
    await say("aloud", { id: "m1" });
    await hook.sees("one");
    await say("/sessions", { id: "m2" });
    free();
    const name = /\[(\w+)\]/.exec((await hook.sees("Permission [")).text)?.[1];
    await say(`/approve ${name}`);
    await until(() => hook.ended.has("m1"), "the end");
    await hook.sees("four");
    const said = hook.got.filter(({ inReplyTo }) => inReplyTo === "m1").map(({ kind, text }) => (kind === "notice" ? "?" : text));
    expect(said.join("")).toBe("one two three? four");
  });

  async function asked(hook: Receiver, say: Open["say"], command: string): Promise<string> {
    await say(command);
    const { text } = await hook.sees("Permission [");
    expect(text).toContain(`"command": "${command}"`);
    return /\[(\w+)\]: Bash \(as you asked\)/.exec(text)?.[1] ?? expect.fail(text);
  }
});
