/** The network of the commands of a session: none, one of their own, or one with a proxy to the hosts that the config lists. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { SandboxSystem } from "../system.js";
import type { SeatbeltNetwork } from "../seatbelt.js";
import { openNamespace } from "./namespace.js";
import { openProxy } from "./proxy.js";

/** `loopback`: commands reach each other. A list: they reach these hosts, too (core/text/host-pattern.ts). */
export type NetworkOptions = "off" | "loopback" | readonly string[];

export interface Network {
  /** The words in front of a command; none where it gets a namespace of its own. */
  entering: readonly string[];
  /** Whether the command is in a namespace already. */
  isShared: boolean;
  seatbelt: SeatbeltNetwork;
  /** Variables that name the proxy. */
  variables: Readonly<Record<string, string>>;
  /** A sentence for the model. */
  words: string;
  close(): Promise<void>;
}

const NONE: Network = {
  entering: [],
  isShared: false,
  seatbelt: "off",
  variables: {},
  words: "They have no network.",
  close: () => Promise.resolve(),
};

/** `folder`: the session's own, for the proxy's socket. `writable`: no program of these folders is used. */
export async function openNetwork(
  options: NetworkOptions,
  { name, program }: SandboxSystem,
  { folder, writable }: { folder: string; writable: readonly string[] },
): Promise<Network> {
  if (options === "off") return NONE;
  const hosts = options === "loopback" ? undefined : options;
  if (name === "seatbelt") return hosts === undefined ? { ...NONE, seatbelt: "loopback", words: AMONG } : byPort(hosts);
  const socket = join(folder, "proxy");
  const proxy = hosts && (await openProxy(hosts, { path: socket }));
  try {
    const namespace = await openNamespace(program, proxy && socket, writable);
    const ofProxy = hosts === undefined ? {} : { variables: proxyVariables(`http://127.0.0.1:${namespace.port}`), words: wordsOf(hosts) };
    return {
      ...NONE,
      words: AMONG,
      ...ofProxy,
      entering: namespace.entering,
      isShared: true,
      async close() {
        proxy?.close();
        await namespace.close();
      },
    };
  } catch (error) {
    proxy?.close();
    throw error;
  }
}

const AMONG = "Their only network is 127.0.0.1, where they reach each other and nothing else.";

function wordsOf(hosts: readonly string[]): string {
  return `They reach each other by 127.0.0.1, and by https these hosts alone, through the proxy that HTTPS_PROXY names: ${hosts.join(", ")}.`;
}

/** Where there are no namespaces, other programs could reach the proxy as well: it asks for a password. */
async function byPort(hosts: readonly string[]): Promise<Network> {
  const token = randomBytes(16).toString("hex");
  const proxy = await openProxy(hosts, { port: 0 }, token);
  return {
    ...NONE,
    seatbelt: { proxyPort: proxy.port },
    variables: proxyVariables(`http://sandbox:${token}@127.0.0.1:${proxy.port}`),
    words: wordsOf(hosts),
    close: () => Promise.resolve(proxy.close()),
  };
}

function proxyVariables(address: string): Record<string, string> {
  const own = "localhost,127.0.0.1,::1";
  const variables = Object.entries({ HTTPS_PROXY: address, HTTP_PROXY: address, ALL_PROXY: address, NO_PROXY: own });
  // Programs know them in either case; Node asks for a word to heed them.
  return {
    ...Object.fromEntries(
      variables.flatMap(([name, value]) => [
        [name, value],
        [name.toLowerCase(), value],
      ]),
    ),
    NODE_USE_ENV_PROXY: "1",
  };
}
