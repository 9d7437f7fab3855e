import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { until } from "../support/processes.js";
import { site, type Bridge, type Site } from "./harness.js";
import { failed, telegramServer, TOKEN, type TelegramServer } from "./telegram-server.js";

interface Open {
  here: Site;
  telegram: TelegramServer;
  bridge: Bridge;
  config: Record<string, unknown>;
}

async function open(more: Record<string, unknown> = {}, limits: Record<string, number> = {}): Promise<Open> {
  const telegram = await telegramServer();
  const here = site({ TELEGRAM_BOT_TOKEN: TOKEN });
  const config = { limits, platforms: { bot: { type: "telegram", baseUrl: telegram.url, intervalMs: 0, allow: [7], ...more } } };
  const bridge = await here.start(config).up();
  return { here, telegram, bridge, config };
}

test("a message is answered in its chat, typing is shown, and the update is confirmed once it is kept", async () => {
  const { here, telegram } = await open();
  telegram.say("say hello");
  await telegram.sees("hello");
  await until(() => telegram.confirmed() === 1, "the confirmation");
  expect(telegram.messages(7)).toEqual(["hello"]);
  expect(telegram.calls.find(({ method }) => method === "sendChatAction")?.params).toEqual({ chat_id: 7, action: "typing" });
  expect(here.runs()).toMatchObject([{ message: "say hello", name: "bot/7/default" }]);
});

test("a streamed answer grows in place, and goes on in a new message where one is full", async () => {
  const { here, telegram } = await open();
  const go = here.path("go");
  const long = "word ".repeat(790).trim();
  telegram.say(`partial one; await ${go}; partial  two; partial ${long}; say the end`);
  await telegram.sees("one");
  writeFileSync(go, "");
  await telegram.sees("the end");
  const [first = "", ...rest] = telegram.messages(7);
  expect(telegram.calls.some(({ method }) => method === "editMessageText")).toBe(true);
  expect([first, ...rest.slice(0, -1)].join("")).toBe(`onetwo${long}`);
  expect(rest.at(-1)).toBe("the end");
});

test("longer than a message can be: several, each within Telegram's limit", async () => {
  const { telegram } = await open();
  telegram.say("long 20000; say the end");
  await telegram.sees("the end");
  expect(telegram.messages(7).length).toBeGreaterThan(4);
  expect(telegram.messages(7).every((text) => text.length <= 4096)).toBe(true);
  expect(telegram.messages(7).join("")).toBe(`${"0123456789".repeat(2000)}\nthe end`);
});

describe("throttling", () => {
  test("429 is waited for; nothing is lost, nothing is sent twice", async () => {
    const { telegram } = await open();
    let refusals = 0;
    telegram.script = ({ method }) =>
      method === "sendMessage" && refusals++ < 2 ? failed(429, "Too Many Requests: retry after 0", { retry_after: 0 }) : undefined;
    telegram.say("say hello");
    await telegram.sees("hello");
    expect([refusals, telegram.messages(7)]).toEqual([3, ["hello"]]);
  });

  test("an answer that never came is repeated, and says so", async () => {
    const { telegram } = await open();
    const silence = [{ status: 200, body: "<html>Log in to this network</html>" }, { status: 403, body: "" }, "hang up"] as const;
    let attempts = 0;
    telegram.script = ({ method }) => (method === "sendMessage" ? silence[attempts++] : undefined);
    telegram.say("say hello");
    await telegram.sees("(again) hello");
  });

  test("a chat that blocked us is given up, and told on stderr", async () => {
    const { telegram, bridge } = await open();
    telegram.script = ({ method }) => (method === "sendMessage" ? failed(403, "Forbidden: bot was blocked by the user") : undefined);
    telegram.say("say hello");
    await bridge.hears("was not delivered: 403 Forbidden: bot was blocked by the user");
  });
});

describe("who", () => {
  test("strangers are told once and never run; bots are not answered at all", async () => {
    const { here, telegram, bridge } = await open();
    const eve = { from: { id: 8, is_bot: false }, chat: { id: 8 } };
    telegram.say("say one", eve);
    telegram.say("say two", eve);
    telegram.say("/approve abcd", eve);
    telegram.say("say three", { from: { id: 7, is_bot: true }, chat: { id: 9 } });
    telegram.say("say four");
    await telegram.sees("four");
    expect(telegram.messages(8)).toEqual(["You are not on this bridge's list of senders. Whoever runs it can add '8' to 'allow'."]);
    expect(telegram.messages(9)).toEqual([]);
    expect(here.runs()).toHaveLength(1);
    await bridge.hears("refused a message of '8' on 'bot'");
  });

  test("in a group, a command to another bot is not for us", async () => {
    const { here, telegram } = await open();
    telegram.say("/help@other_bot", { chat: { id: -5 } });
    telegram.say("/agents@other_bot own", { chat: { id: -5 } });
    telegram.say("/sessions@Our_Bot", { chat: { id: -5 } });
    await telegram.sees("* default");
    expect([telegram.messages(-5), here.runs()]).toEqual([["* default"], []]);
  });

  test("so it is when Telegram could not be reached at the start", async () => {
    const telegram = await telegramServer();
    let isDown = true;
    telegram.script = () => (isDown ? "hang up" : undefined);
    const here = site({ TELEGRAM_BOT_TOKEN: TOKEN });
    await here.start({ platforms: { bot: { type: "telegram", baseUrl: telegram.url, intervalMs: 0, allow: [7] } } }).up();
    isDown = false;
    telegram.say("/help@other_bot", { chat: { id: -5 } });
    telegram.say("/sessions@our_bot", { chat: { id: -5 } });
    await telegram.sees("* default");
    expect([telegram.messages(-5), here.runs()]).toEqual([["* default"], []]);
  });

  test("a topic of a forum is a chat of its own", async () => {
    const { here, telegram } = await open();
    telegram.say("say in topic", { chat: { id: -5 }, message_thread_id: 3, is_topic_message: true });
    await telegram.sees("in topic");
    expect(telegram.calls.findLast(({ method }) => method === "sendMessage")?.params).toMatchObject({ chat_id: -5, message_thread_id: 3 });
    expect(here.runs()[0]?.name).toBe("bot/-5/3/default");
  });
});

test("an update that comes again after kill -9 is not run again", async () => {
  const { here, telegram, bridge, config } = await open();
  telegram.script = ({ method }) => (method === "sendMessage" ? failed(429, "later", { retry_after: 3600 }) : undefined);
  telegram.say(`touch ${here.path("ran")}; say hello`);
  await until(() => existsSync(here.path("ran")), "the turn");
  await until(() => here.journal().includes('"attempted"'), "the first attempt");
  await bridge.kill("SIGKILL");
  // As if the confirmation had not arrived.
  const update = { update_id: 100, message: { message_id: 100, from: { id: 7 }, chat: { id: 7 }, text: "say hello" } };
  let again = true;
  telegram.script = ({ method }) => {
    if (method !== "getUpdates" || !again) return undefined;
    again = false;
    return { status: 200, body: { ok: true, result: [update] } };
  };
  await here.start(config).up();
  await telegram.sees("(again) hello");
  telegram.say("say next");
  await telegram.sees("next");
  expect(here.runs()).toHaveLength(2);
});

test("files are fetched and passed on by a path of ours: the address with the token never leaves", async () => {
  const { here, telegram } = await open();
  telegram.files.set("f1", "the text of the file");
  telegram.say("", { text: undefined, caption: "say got it", document: { file_id: "f1", file_name: "../../notes 1.txt" } });
  await telegram.sees("got it");
  const Attachments = v.array(v.looseObject({ type: v.string(), url: v.string(), name: v.string() }));
  const [attachment] = v.parse(Attachments, JSON.parse(here.runs()[0]?.attachments ?? "[]"));
  expect(attachment).toMatchObject({ type: "file", name: "../../notes 1.txt" });
  const file = fileURLToPath(attachment?.url ?? "");
  expect([file.startsWith(here.path("state/files/")), readFileSync(file, "utf8")]).toEqual([true, "the text of the file"]);
});

test("a file that does not come holds up no end: its message comes again", async () => {
  const { here, telegram, bridge, config } = await open();
  telegram.holdsFiles = true;
  telegram.say("", { text: undefined, caption: "say got it", document: { file_id: "f1" } });
  await until(() => telegram.calls.some(({ method }) => method === "getFile"), "the file to be asked for");
  expect((await bridge.kill("SIGTERM")).code).toBe(143);
  telegram.holdsFiles = false;
  await here.start(config).up();
  await telegram.sees("got it");
});

test("a flood is answered, but not each message of it", async () => {
  const { here, telegram } = await open({}, { queue: 1 });
  const go = here.path("go");
  telegram.say(`await ${go}; say first`);
  await until(() => here.runs().length === 1, "the turn");
  telegram.script = ({ method }) => (method === "sendMessage" && !existsSync(go) ? failed(429, "later", { retry_after: 1 }) : undefined);
  telegram.say("say second");
  for (let count = 0; count < 30; count++) telegram.say(`say ${count}`);
  await until(() => telegram.confirmed() === 32, "all to be taken");
  writeFileSync(go, "");
  await telegram.sees("second");
  expect(telegram.messages(7)).toEqual([expect.stringMatching(/^1 messages wait in this session already/), "first", "second"]);
});

describe("the token", () => {
  test("that is wrong ends the start, and is told without the token", async () => {
    const telegram = await telegramServer();
    const here = site({ TELEGRAM_BOT_TOKEN: "999:wrong-token" });
    const bridge = here.start({ platforms: { bot: { type: "telegram", baseUrl: telegram.url, allow: [7] } } });
    expect((await bridge.exited).code).toBe(1);
    expect(bridge.stderr).toContain("Telegram refused the token in TELEGRAM_BOT_TOKEN: Unauthorized");
    expect(bridge.stderr).not.toContain("999:wrong");
  });

  test("that is missing is told with its variable", async () => {
    const here = site();
    const bridge = here.start({ platforms: { bot: { type: "telegram", tokenEnv: "MY_BOT", allow: [7] } } });
    expect((await bridge.exited).code).toBe(1);
    expect(bridge.stderr).toContain("The token of 'bot' belongs into the variable MY_BOT, which is not set");
  });

  test("is in no log, journal or error, whatever goes wrong", async () => {
    const { here, telegram, bridge } = await open();
    let rounds = 0;
    telegram.script = ({ method }) => {
      if (method === "getUpdates" && rounds++ === 0) return failed(409, "Conflict: terminated by other getUpdates request");
      if (method === "getUpdates" && rounds === 2) return "hang up";
      return undefined;
    };
    telegram.say("say hello");
    await telegram.sees("hello");
    await bridge.kill("SIGTERM");
    expect(`${bridge.stderr}${bridge.stdout}${here.journal()}${JSON.stringify(here.runs())}`).not.toContain(TOKEN);
  });
});

test("409 is told with what to do", async () => {
  const telegram = await telegramServer();
  const here = site({ TELEGRAM_BOT_TOKEN: TOKEN });
  let rounds = 0;
  telegram.script = ({ method }) =>
    method === "getUpdates" && rounds++ === 0 ? failed(409, "Conflict: terminated by other getUpdates request") : undefined;
  const bridge = await here.start({ platforms: { bot: { type: "telegram", baseUrl: telegram.url, intervalMs: 0, allow: [7] } } }).up();
  await bridge.hears("another program polls for the same bot");
  telegram.say("say still here");
  await telegram.sees("still here");
});
