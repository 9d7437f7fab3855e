import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { socketOwner, type Endpoint } from "./socket-owner.js";

const NOBODY = 65_534;

/** Both ends of a connection as a server sees it: the client's, then its own. The server reads nothing, and keeps its end open. */
async function accepted(host: string, dial: (port: number) => unknown): Promise<[Endpoint, Endpoint]> {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true });
  server.listen(0, host);
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("no port");
  const arrival = once(server, "connection");
  dial(bound.port);
  const [socket]: Socket[] = await arrival;
  if (socket === undefined) throw new Error("no socket");
  socket.on("error", () => {});
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = socket;
  return [
    { address: remoteAddress, port: remotePort },
    { address: localAddress, port: localPort },
  ];
}

function dialAsNobody(port: number): ChildProcess {
  const program = `require("node:net").connect(${port}, "127.0.0.1").write("x"); process.stdin.on("end", () => process.exit()).resume();`;
  const child = spawn(process.execPath, ["-e", program], {
    cwd: "/",
    uid: NOBODY,
    gid: NOBODY,
    env: {},
    stdio: ["pipe", "inherit", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function dial(port: number, host: string): void {
  const socket = connect(port, host);
  onTestFinished(() => void socket.destroy());
}

describe.skipIf(process.platform !== "linux")("the user of a socket (needs Linux)", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "::ffff:127.0.0.1"],
    ["127.1.2.3", "127.1.2.3"],
    ["::ffff:127.0.0.1", "127.0.0.1"],
    ["::1", "::1"],
  ])("is told for a server at %s and a client that dials %s", async (host, dialled) => {
    const [client, server] = await accepted(host, (port) => dial(port, dialled));
    expect(await socketOwner(client, server)).toBe(process.getuid?.());
  });

  test("is unknown where there is no such socket", async () => {
    const [client, server] = await accepted("127.0.0.1", (port) => dial(port, "127.0.0.1"));
    expect(await socketOwner({ ...client, address: "127.0.0.2" }, server)).toBeUndefined();
    expect(await socketOwner(client, { ...server, address: "::1" })).toBeUndefined();
    expect(await socketOwner({ address: "fe80::1", port: client.port }, server)).toBeUndefined();
  });

  test.skipIf(process.getuid?.() !== 0)("is another one, and never root once that one has left (needs root)", async () => {
    let child: ChildProcess | undefined;
    const [client, server] = await accepted("127.0.0.1", (port) => (child = dialAsNobody(port)));
    expect(await socketOwner(client, server)).toBe(NOBODY);
    const exited = child && once(child, "exit");
    child?.stdin?.end();
    await exited;
    expect(await socketOwner(client, server)).toBeUndefined();
  });
});
