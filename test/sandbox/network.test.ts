/** The network of commands in the sandbox: their own, and the hosts that the config lists. */
import { accessSync, constants, symlinkSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { scratch, start } from "../process/harness.js";
import { marked, until } from "../support/processes.js";
import { proxyServer } from "../support/proxy-server.js";
import { begin, NO_SANDBOX, place, resultOf, results, type Tried } from "./harness.js";

/** A server of this machine that says hello. */
async function greeting(): Promise<{ port: number; visits: () => number }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.on("error", () => undefined).end("hello");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, visits: () => visits };
}

const DIRECT = `require("net").connect(+process.argv[2], "127.0.0.1").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code));`;
/** Asks the proxy of the environment for a tunnel, and prints its answer and what comes through. */
const TUNNEL = `const { hostname, port, username, password } = new URL(process.env.HTTPS_PROXY);
const headers = username ? { "proxy-authorization": "Basic " + Buffer.from(username + ":" + password).toString("base64") } : {};
const print = (text) => process.stdout.write(String(text));
require("http").request({ host: hostname, port, method: process.argv[3] ?? "CONNECT", path: process.argv[2], headers })
  .on("connect", (answer, socket, head) => { print(answer.statusCode + " " + head); socket.on("data", print).on("error", print); })
  .on("response", (answer) => { print(answer.statusCode + " "); answer.on("data", print); }).on("error", print).end();`;

function workspace(): string {
  return place({ "direct.js": DIRECT, "tunnel.js": TUNNEL });
}

function withNetwork(network: unknown, more: Tried = {}): Tried {
  const parley = place({ "config.yaml": stringify({ sandbox: { mode: "required", network } }) });
  return { cwd: workspace(), ...more, args: [], env: { ...more.env, PARLEY_HOME: parley } };
}

describe.skipIf(NO_SANDBOX !== undefined)("the network of a sandbox", () => {
  test("loopback: commands of a session reach each other, and nothing else", async () => {
    const mark = marked();
    const outside = await greeting();
    const serve = `node -e 'require("net").createServer((s) => s.end("inner")).listen(4711, "127.0.0.1", () => require("fs").writeFileSync("up", ""))' >/dev/null 2>&1 &`;
    const wait = "until [ -e up ]; do sleep 0.05; done; ";
    const host = await begin(
      [serve, `${wait} node direct.js 4711`, `node direct.js ${outside.port}`],
      withNetwork("loopback", { env: mark.env }),
    );
    expect(resultOf(host, "c1")).toBe("Exit code: 0\nSTDOUT:\ninner");
    expect(resultOf(host, "c2")).toContain("ECONNREFUSED");
    expect(outside.visits()).toBe(0);
    expect(await host.finish()).toBe(0);
    await mark.gone();
  });

  test("hosts of the config are reached through the proxy, and no others", async () => {
    const [listed, other] = [await greeting(), await greeting()];
    const targets = [
      [`localhost:${listed.port}`, "200 hello"],
      [`LOCALHOST:${listed.port}`, "200 hello"],
      [`localhost:${other.port}`, "403 The sandbox does not let localhost"],
      [`127.0.0.1:${listed.port}`, "403 "],
      [`[::1]:${listed.port}`, "403 "],
      [`a.b.localhost:${listed.port}`, "502 "],
      ["example.com:443", "403 The sandbox does not let example.com:443 through; sandbox.network in the config lists the hosts."],
      [`localhost:${listed.port}@example.com:443`, "403 "],
      ["nonsense", "403 "],
    ] as const;
    const direct = [`node direct.js ${listed.port}`, `node tunnel.js http://localhost:${listed.port}/ GET`];
    const found = await results(
      [...targets.map(([target]) => `node tunnel.js '${target}'`), ...direct],
      withNetwork([`localhost:${listed.port}`, `*.b.localhost:${listed.port}`]),
    );
    for (const [at, [target, answer]] of targets.entries()) expect.soft(found[at], target).toContain(`STDOUT:\n${answer}`);
    expect(found.at(-2)).toContain("ECONNREFUSED");
    expect(found.at(-1)).toContain("405 The sandbox lets https through");
    expect(listed.visits()).toBe(2);
    expect(other.visits()).toBe(0);
  });

  test("the proxy of the environment is used on the way, and not shown to commands", async () => {
    const behind = await greeting();
    const upstream = await proxyServer({ "models.test:443": behind.port }, "ada:sesame-open");
    const address = upstream.url.replace("//", "//ada:sesame-open@");
    const [tunnelled, shown] = await results(
      ["node tunnel.js models.test:443", "env | grep -i proxy; tr '\\0' '\\n' < /proc/1/environ | grep -iE 'proxy|agent'"],
      withNetwork(["models.test"], { env: { HTTPS_PROXY: address, SSH_AUTH_SOCK: "/tmp/agent" } }),
    );
    expect(tunnelled).toBe("Exit code: 0\nSTDOUT:\n200 hello");
    expect(upstream.targets).toEqual(["models.test:443"]);
    expect(shown).toContain("HTTPS_PROXY=http://127.0.0.1:");
    expect(shown).not.toMatch(/sesame|ada|redacted|agent/);
  });

  test("a yes to the network gives the system's, and the session's own stays as it is", async () => {
    const outside = await greeting();
    const calls = [
      { tool: "Bash", args: { command: `node direct.js ${outside.port}; echo $HTTPS_PROXY`, needs: ["network"] }, id: "c0" },
      { tool: "Bash", args: { command: `node direct.js ${outside.port}` }, id: "c1" },
    ];
    const parley = place({ "config.yaml": stringify({ sandbox: { mode: "required", network: ["example.com"] } }) });
    const host = start({
      cwd: workspace(),
      env: { PARLEY_HOME: parley },
      responses: [...calls.map((call) => ({ call })), { say: "done" }],
    });
    await host.open({ mode: "yolo" });
    host.prompt("go");
    await host.next("approval.requested");
    host.allow("c0");
    await host.turnEnded();
    expect(resultOf(host, "c0")).toBe("Exit code: 0\nSTDOUT:\nhello\n");
    expect(resultOf(host, "c1")).toContain("ECONNREFUSED");
    expect(await host.finish()).toBe(0);
  });

  test("is gone with Parley, be it killed", async () => {
    const mark = marked();
    const cwd = workspace();
    const options = withNetwork(["example.com"], { cwd, env: mark.env });
    const host = start({ ...options, responses: [{ say: "hello" }] });
    await host.open();
    await until(() => mark.alive().length > 0);
    host.child.kill("SIGKILL");
    await mark.gone();
  });

  test("that cannot be made is told with the remedy", async () => {
    const bin = scratch();
    for (const program of ["bwrap", "node", "prlimit"]) {
      const found = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program));
      symlinkSync(found.find((path) => isExecutable(path)) ?? "/nowhere", join(bin, program));
    }
    const options = withNetwork("loopback");
    const host = start({ ...options, env: { ...options.env, PATH: bin }, responses: [{ say: "hello" }] });
    host.send({ type: "session.open", session: "s", open: "new", config: {} });
    const { fault } = await host.next("reply", ({ to }) => to === "session.open");
    expect(fault?.message).toContain(
      "nsenter, which a network of its own needs, was not found; install util-linux, or set sandbox.network to off",
    );
    expect(await host.finish()).toBe(0);
  });
});

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
