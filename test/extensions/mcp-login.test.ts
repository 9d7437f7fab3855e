/** Logins to MCP servers, against a server and an authorization server in a process of their own. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Event } from "../../src/core/event.js";
import { Redactor } from "../../src/core/secrets/redact.js";
import { McpServers } from "../../src/engine/extensions/mcp/servers.js";
import { HostRequests } from "../../src/engine/session/host-requests.js";
import { localWorkspace } from "../../src/engine/workspace/local.js";
import { scratch, start, until } from "../process/harness.js";
import { calling, listening, official, outputText, settled, type Listener } from "./mcp-harness.js";

const OAUTH = join(import.meta.dirname, "../fixtures/mcp/oauth.mjs");

/** The servers of a session, as it has them. */
async function servers(mcpServers: Record<string, Record<string, unknown>>, home = scratch()) {
  const events: Event[] = [];
  const redactor = new Redactor();
  const mcp = new McpServers(
    {
      sources: { home, mcpServers },
      control: {
        session: {
          hostRequests: new HostRequests(),
          workspace: await localWorkspace(scratch(), { env: {} }),
          outputChars: 1000,
          answerSeconds: 5,
        },
        emit: (event) => void events.push(event),
        trace: () => undefined,
        config: () => ({}),
      },
      redactor,
      env: { PATH: process.env["PATH"] },
      version: "test",
    },
    () => {},
  );
  onTestFinished(() => mcp.close());
  mcp.start({}, Promise.resolve());
  await until(() => mcp.settled);
  return { mcp, redactor, home, events };
}

async function behind(home?: string, kind: "http" | "sse" = "http") {
  const listener = await listening(OAUTH, [kind]);
  const url = `http://127.0.0.1:${listener.port}/mcp`;
  return { listener, url, ...(await servers({ far: { url } }, home)) };
}

/** A browser whose user agrees to everything. */
async function browse(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(10_000) });
}

function logins(home: string): string[] {
  return readdirSync(join(home, "mcp-auth")).map((name) => join(home, "mcp-auth", name));
}

function asked({ output }: Listener): string[] {
  return output()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("port"));
}

function listens(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    onTestFinished(() => void socket.destroy());
  });
}

test("a server that wants a login says how, and nothing is registered or opened before somebody asks", async () => {
  const { mcp, listener, home } = await behind();
  expect(mcp.listed()).toMatchObject([{ name: "far", status: "failed", tools: [], error: "it wants a login; use /mcp login far" }]);
  expect(asked(listener)).toEqual([]);
  expect(readdirSync(home)).toEqual([]);
});

test("a login goes through the browser, is stored for the user alone, and connects the server", async () => {
  const { mcp, listener, home, redactor } = await behind();
  const { url, done } = await mcp.login("far");
  const redirect = new URL(url).searchParams.get("redirect_uri") ?? "";
  expect(redirect).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect(await listens(redirect)).toBe(true);
  expect((await mcp.login("far")).url).toBe(url);
  expect((await fetch(`${redirect}?code=stolen&state=guessed`)).status).toBe(404);
  expect(await (await browse(url)).text()).toContain("can be closed");
  await done;
  expect(await listens(redirect)).toBe(false);
  expect(asked(listener)).toEqual(["metadata", "register", "token"]);
  expect(mcp.listed()).toMatchObject([{ name: "far", status: "ready", tools: [{ qualifiedName: "mcp__far__whoami" }] }]);
  const [file = "", ...others] = logins(home);
  expect(others).toEqual([]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, "mcp-auth")).mode & 0o777).toBe(0o700);
  const { tokens } = JSON.parse(readFileSync(file, "utf8"));
  expect(redactor.text(`a ${tokens.access_token} b ${tokens.refresh_token}`)).toBe("a [redacted] b [redacted]");
});

test("a stored login is used by the command, refreshed when it is refused, and told to nobody", async () => {
  const { mcp, listener, url, home } = await behind();
  const login = await mcp.login("far");
  await browse(login.url);
  await login.done;
  const before = readFileSync(logins(home)[0] ?? "", "utf8");
  await fetch(new URL("/expire", url));
  const host = start({ env: { PARLEY_HOME: home }, responses: calling("mcp__far__whoami") });
  await host.open({ mode: "yolo", mcpServers: { far: { url } } });
  expect((await settled(host)).mcpServers).toMatchObject([{ status: "ready" }]);
  expect(asked(listener)).toEqual(["metadata", "register", "token", "metadata", "refresh"]);
  host.prompt("go");
  await host.turnEnded();
  expect(outputText(await host.next("tool.ended"))).toBe("you are Bearer [redacted]");
  expect(await host.finish()).toBe(0);
  const after = readFileSync(logins(home)[0] ?? "", "utf8");
  expect(after).not.toBe(before);
  const { tokens } = JSON.parse(after);
  expect(host.lines.join("\n")).not.toContain(tokens.access_token);
});

test("calls that are refused side by side share one refresh: its token can be spent once", async () => {
  const { mcp, listener, url, home } = await behind();
  const login = await mcp.login("far");
  await browse(login.url);
  await login.done;
  const call = { tool: "mcp__far__whoami", args: {} };
  const host = start({ env: { PARLEY_HOME: home }, responses: [{ calls: [call, call, call] }, { say: "done" }] });
  await host.open({ mode: "yolo", mcpServers: { far: { url } } });
  await settled(host);
  await fetch(new URL("/expire", url));
  host.prompt("go");
  await host.turnEnded();
  expect(host.ofType("tool.ended").map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  expect(asked(listener).filter((line) => line === "refresh")).toHaveLength(1);
  expect(await host.finish()).toBe(0);
});

test("a login that is no longer good is asked for again, and the client registered for the same port is used again", async () => {
  const { mcp, listener, url, home } = await behind();
  const first = await mcp.login("far");
  await browse(first.url);
  await first.done;
  await fetch(new URL("/revoke", url));
  const later = await servers({ far: { url } }, home);
  expect(later.mcp.listed()).toMatchObject([{ status: "failed", error: "it wants a login; use /mcp login far" }]);
  const again = await later.mcp.login("far");
  await browse(again.url);
  await again.done;
  expect(later.mcp.listed()).toMatchObject([{ status: "ready" }]);
  expect(asked(listener).filter((line) => line === "register")).toHaveLength(1);
});

test("a login counts for SSE, too", async () => {
  const { mcp, url } = await behind(scratch(), "sse");
  const login = await mcp.login("far");
  await browse(login.url);
  await login.done;
  expect(mcp.listed()).toMatchObject([{ status: "ready", tools: [{ name: "whoami" }] }]);
  const { mcp: only } = await servers({ far: { type: "sse", url } });
  expect(only.listed()).toMatchObject([{ status: "failed", error: "it wants a login; use /mcp login far" }]);
});

test("a token stays with its address", async () => {
  const { mcp, home } = await behind();
  const login = await mcp.login("far");
  await browse(login.url);
  await login.done;
  const other = await behind(home);
  expect(other.mcp.listed()).toMatchObject([{ status: "failed", error: "it wants a login; use /mcp login far" }]);
});

test("a user who refuses ends the login", async () => {
  const { mcp } = await behind();
  const { url, done } = await mcp.login("far");
  const { searchParams } = new URL(url);
  await fetch(`${searchParams.get("redirect_uri") ?? ""}?error=access_denied&state=${searchParams.get("state") ?? ""}`);
  await expect(done).rejects.toThrow("The login was refused: access_denied");
  expect((await mcp.login("far")).url).not.toBe(url);
});

test("the end of the session ends a login", async () => {
  const { mcp } = await behind();
  const { url, done } = await mcp.login("far");
  await mcp.close();
  await expect(done).rejects.toThrow("The login was not finished in time");
  expect(await listens(new URL(url).searchParams.get("redirect_uri") ?? "")).toBe(false);
});

test("a server without an address cannot be logged in to, and one that is not there neither", async () => {
  const { mcp } = await servers({ near: official() });
  await expect(mcp.login("near")).rejects.toThrow("The login to 'near' failed: it has no address to log in at");
  expect(() => mcp.login("nobody")).toThrow("There is no MCP server 'nobody'");
});

test("a server's own Authorization header is not replaced by a login", async () => {
  const listener = await listening(OAUTH, []);
  const { mcp } = await servers({
    far: { url: `http://127.0.0.1:${listener.port}/mcp`, headers: { Authorization: "Bearer wrong-token" } },
  });
  expect(mcp.listed()).toMatchObject([{ status: "failed", error: "it wants a login; check its headers" }]);
});

test("/mcp login goes through the browser from the chat", async () => {
  const listener = await listening(OAUTH, ["http"]);
  const host = start({ responses: calling("mcp__far__whoami") });
  await host.open({ mode: "yolo", mcpServers: { far: { url: `http://127.0.0.1:${listener.port}/mcp` } } });
  await settled(host);
  host.send({ type: "turn.prompt", session: "s", parts: [], command: { name: "mcp", args: "login far" } });
  const url = (): string | undefined => /http:\/\/127\S+\/authorize\S+/.exec(host.lines.join("\n").replaceAll('"', " "))?.[0];
  await until(() => url() !== undefined);
  await browse(url() ?? "");
  expect((await settled(host, 2)).mcpServers).toMatchObject([{ status: "ready", tools: [{ name: "whoami" }] }]);
  host.prompt("go");
  await host.turnEnded();
  expect(outputText(await host.next("tool.ended"))).toBe("you are Bearer [redacted]");
  expect(await host.finish()).toBe(0);
});

test("prompts and resources, for commands and for what is mentioned", async () => {
  const { mcp } = await servers({ near: official() });
  const { signal } = new AbortController();
  expect(mcp.prompts()).toEqual([
    { server: "near", name: "review", description: "Reviews", arguments: [{ name: "file", description: "", required: true }] },
  ]);
  expect(await mcp.prompt("near", "review", { file: "a.ts" }, signal)).toEqual([{ type: "text", text: "Please review a.ts" }]);
  await expect(mcp.prompt("near", "review", {}, signal)).rejects.toThrow("The MCP server 'near' failed: it answered:");
  expect(mcp.servers()).toEqual(["near"]);
  expect(await mcp.read("near", "any://thing", signal)).toMatchObject([{ type: "resource", uri: "any://thing", text: "any thing" }]);
});
