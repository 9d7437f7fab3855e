/** Whose answer to a permission counts, on every kind of platform; and what the start, the check and the denial say of it. */
import { randomUUID } from "node:crypto";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { until } from "../support/processes.js";
import { site } from "./harness.js";
import { telegramServer, TOKEN } from "./telegram-server.js";
import { post, receiver, type Receiver } from "./webhook-client.js";

const PARLEY = join(import.meta.dirname, "../../dist/parley.js");
const NOBODY = "nobody may approve on 'hook': more than one sender may talk, and 'approvers' names nobody";

async function hooked(who: Record<string, unknown>) {
  const here = site();
  const hook = await receiver();
  const settings = { type: "webhook", listen: 0, secretEnv: "HOOK_SECRET", callbackUrl: hook.url, ...who };
  const bridge = await here.start({ profile: "asking.yaml", platforms: { hook: settings } }).up();
  const say = (from: string, text: string) => post(bridge.url, { id: randomUUID(), chat: "c", from, text });
  return { here, hook, bridge, say };
}

async function asked(hook: Receiver): Promise<string> {
  const { text } = await hook.sees("Permission [");
  return /\[(\w+)\]/.exec(text)?.[1] ?? expect.fail(text);
}

/** The agent says what it was told. */
function answered(hook: Receiver, reply: string): Promise<void> {
  return until(
    () => hook.got.some(({ kind, text }) => kind === "reply" && text === reply),
    () => `the reply '${reply}' among ${JSON.stringify(hook.got)}`,
  );
}

describe("of several senders", () => {
  test("nobody approves where nobody is named: the call is denied at once, and the chat, the agent and the start say why", async () => {
    const { hook, bridge, say } = await hooked({ allow: ["ann", "bob"] });
    expect(bridge.stderr).toContain(NOBODY);
    await say("ann", "make");
    const why = "Nobody may approve anything here: more than one sender may talk, and 'approvers' names nobody.";
    await hook.sees(`Bash (as you asked) was denied. ${why} Whoever runs the bridge can name 'approvers'.`);
    await answered(hook, `deny ${why}`);
    await say("ann", "/approve");
    await hook.sees("You may not answer permissions here, so this did nothing.");
  });

  test("only those who are named answer; the word of another does nothing, and he hears so", async () => {
    const { hook, bridge, say } = await hooked({ allow: ["ann", "bob"], approvers: ["bob"] });
    expect(bridge.stderr).not.toContain("may approve");
    await say("ann", "make");
    const name = await asked(hook);
    await hook.sees("Only bob may answer.");
    for (const word of ["approve", "deny"]) {
      const before = hook.got.length;
      await say("ann", `/${word} ${name}`);
      await until(() => hook.got.length > before, "the sentence");
      expect(hook.got.at(-1)?.text).toBe(
        "You may not answer permissions here, so this did nothing. Only bob may. Whoever runs the bridge can add 'ann' to 'approvers'.",
      );
    }
    await say("bob", `/approve ${name}`);
    await answered(hook, "allow");
  });

  test("each approves what he asked for where the configuration says so", async () => {
    const { hook, bridge, say } = await hooked({ allow: ["*"], approvers: "senders" });
    expect(bridge.stderr).toContain("everybody may approve on 'hook'");
    await say("eve", "make");
    await say("eve", `/approve ${await asked(hook)}`);
    await answered(hook, "allow");
  });
});

test("a single sender approves for himself, unless the list of approvers is empty", async () => {
  const one = await hooked({ allow: ["ann"] });
  await one.say("ann", "make");
  await one.say("ann", `/approve ${await asked(one.hook)}`);
  await answered(one.hook, "allow");
  const none = await hooked({ allow: ["ann"], approvers: [] });
  expect(none.bridge.stderr).toContain("nobody may approve on 'hook': its list 'approvers' is empty");
  await none.say("ann", "make");
  await answered(none.hook, "deny Nobody may approve anything here: its list 'approvers' is empty.");
});

test("the person at the console approves, unless the configuration says otherwise", async () => {
  const here = site();
  const bridge = await here.start({ profile: "asking.yaml", platforms: { me: { type: "console" } } }).up();
  bridge.child.stdin.write("make\n");
  await until(() => /Permission \[\w+\]/.test(bridge.stdout), "the question");
  bridge.child.stdin.write(`/approve ${/\[(\w+)\]/.exec(bridge.stdout)?.[1]}\n`);
  await until(() => bridge.stdout.includes("\nallow\n"), "the reply");
  const other = await here
    .start({ profile: "asking.yaml", stateFolder: "state2", platforms: { me: { type: "console", approvers: [] } } })
    .up();
  other.child.stdin.write("make\n");
  await until(() => other.stdout.includes("deny Nobody may approve anything here"), "the denial");
});

test("in a group on Telegram the members talk, and the one who is named approves", async () => {
  const telegram = await telegramServer();
  const here = site({ TELEGRAM_BOT_TOKEN: TOKEN });
  const bot = { type: "telegram", baseUrl: telegram.url, intervalMs: 0, allow: [7, 8], approvers: [8] };
  await here.start({ profile: "asking.yaml", platforms: { bot } }).up();
  const say = (id: number, text: string): number => telegram.say(text, { from: { id }, chat: { id: -5 } });
  say(7, "make");
  await telegram.sees("Only 8 may answer.");
  const name = /\[(\w+)\]/.exec(telegram.messages(-5).join("\n"))?.[1];
  say(7, `/approve_${name}`);
  await telegram.sees("Whoever runs the bridge can add '7' to 'approvers'.");
  expect(telegram.messages(-5)).not.toContain("allow");
  say(8, `/approve_${name}`);
  await telegram.sees(`Permission [${name}]: allowed.`);
  await until(() => telegram.messages(-5).includes("allow"), "the reply");
});

test("on the platform of somebody else the same holds", async () => {
  const here = site();
  writeFileSync(
    here.path("mine.mjs"),
    `import { appendFileSync } from "node:fs";
     export default () => {
       let inbox;
       const say = (from, text) => inbox.accept({ chat: "c", from, text });
       return {
         limits: { text: 10_000 },
         async start(given) { inbox = given; await say("ann", "make"); },
         async send({ text }) {
           appendFileSync("said", text + "\\n");
           const name = /^Permission \\[(\\w+)\\]: Bash/.exec(text)?.[1];
           if (name !== undefined) { await say("ann", "/approve " + name); await say("bob", "/deny " + name + " not now"); }
           return { status: "sent" };
         },
         async pause() {},
         async stop() {},
       };
     };`,
  );
  await here
    .start({ profile: "asking.yaml", platforms: { mine: { module: "./mine.mjs", allow: ["ann", "bob"], approvers: ["bob"] } } })
    .up();
  const said = (): string => (existsSync(here.path("said")) ? readFileSync(here.path("said"), "utf8") : "");
  await until(() => said().includes("deny not now"), "the denial");
  expect(said()).toContain("can add 'ann' to 'approvers'");
});

describe("a configuration", () => {
  test.each([
    ["approvers: bob", 'bridge.yaml:5:16: platforms.a.approvers must be "senders", or a list of senders\' ids, not "bob"'],
    ["approvers: { bob: 1 }", 'platforms.a.approvers must be "senders", or a list of senders\' ids, not a mapping'],
    ["approvers: [ann, 1.5]", "bridge.yaml:5:22: platforms.a.approvers[1] must be a sender's id"],
    ["approvers: ['*']", 'platforms.a.approvers[0] must be a sender\'s id; "approvers: senders" is everybody who may talk, not "*"'],
    ["approvers: [ann, eve]", "bridge.yaml:5:22: platforms.a.approvers[1] is 'eve', who may not talk: 'allow' does not name them"],
    ["approver: [ann]", "unknown key 'approver' in platforms.a; did you mean 'approvers'?"],
  ])("with %s is wrong, and says where", async (line, words) => {
    const here = site();
    const bridge = here.startWith(`profile: agent.yaml\nplatforms:\n  a:\n    type: console\n    ${line}\n    allow: [ann, bob]\n`);
    expect((await bridge.exited).code).toBe(1);
    expect(bridge.stderr).toContain(words);
  });

  test("is checked with its profiles: who may talk and who may approve is told, and nothing is started", () => {
    const here = site();
    const common = { type: "webhook", secretEnv: "NO_SUCH_SECRET", callbackUrl: "https://example.org" };
    const platforms = {
      me: { type: "console" },
      many: { ...common, listen: 1, allow: ["ann", 8], secretEnv: "HOOK_SECRET" },
      named: { ...common, listen: 2, allow: ["*"], approvers: ["ann"] },
      broken: { ...common, listen: 3, allow: [], profile: "broken.yaml", secretEnv: "HOOK_SECRET" },
    };
    writeFileSync(here.path("broken.yaml"), stringify({ command: "no-such-program" }));
    writeFileSync(here.path("bridge.yaml"), stringify({ profile: "quick.yaml", platforms }));
    const check = (...flags: string[]) =>
      spawnSync(process.execPath, [PARLEY, "bridge", "check", here.path("bridge.yaml"), ...flags], {
        env: { PATH: process.env["PATH"], HOME: here.path("."), PARLEY_HOME: here.path("home"), HOOK_SECRET: "x" },
        encoding: "utf8",
      });
    const { status, stdout, stderr } = check();
    expect(status).toBe(1);
    expect(stdout.split("\n").slice(0, 12)).toEqual([
      "me",
      "  runs     quick.yaml",
      "  talk     console",
      "  approve  console",
      "many",
      "  runs     quick.yaml",
      "  talk     ann, 8",
      "  approve  nobody: more than one sender may talk, and 'approvers' names nobody",
      "named",
      "  runs     quick.yaml",
      "  talk     everybody",
      "  approve  ann",
    ]);
    expect(stdout).toContain("bridge.yaml has 1 problem\n");
    expect(stderr).toContain("warning: platforms.many: nobody may approve: more than one sender may talk, and 'approvers' names nobody");
    expect(stderr).toContain("warning: platforms.named: the variable NO_SUCH_SECRET is not set here");
    expect(stderr).toContain("platforms.broken: command: 'no-such-program' was not found");
    const report: unknown = JSON.parse(check("--json").stdout);
    expect(report).toMatchObject({
      ok: false,
      problems: ["platforms.broken: command: 'no-such-program' was not found"],
      platforms: [
        { name: "me", allow: ["console"], approvers: ["console"] },
        { name: "many", allow: ["ann", "8"], approvers: [], nobody_approves: expect.stringContaining("more than one sender") },
        { name: "named", allow: ["*"], approvers: ["ann"] },
        { name: "broken", allow: [], approvers: [] },
      ],
    });
    expect(existsSync(here.path("state"))).toBe(false);
    expect(check("--wire", "0.4")).toMatchObject({ status: 2, stderr: expect.stringContaining("--wire is about a profile") });
    writeFileSync(here.path("bridge.yaml"), "platforms:\n  a: { type: fax }\n");
    expect(check()).toMatchObject({ status: 1, stderr: expect.stringContaining("platforms.a.type must be one of console") });
  });
});
