/** The boundary as a profile of Seatbelt, the sandbox of macOS, for `sandbox-exec -p`. Of two rules that fit, the later one counts. */
import type { Boundary } from "./boundary.js";

/** The port of this machine through which hosts are reached; every port of it; or none. */
export type SeatbeltNetwork = "off" | "loopback" | "all" | { proxyPort: number };

export function seatbeltProfile({ places }: Boundary, temp: string, network: SeatbeltNetwork): string {
  const paths = (access: string): string[] => places.filter((place) => place.access === access).map(({ path }) => path);
  const lines = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/fd/") (literal "/dev/dtracehelper"))`,
    allowed("allow", "file-write*", [temp, ...paths("write")]),
    // In the order of their depth, so that a folder may be hidden and a file in it be shown.
    ...places.flatMap(({ path, access }) => {
      if (access === "read") return [`(allow file-read* ${subpath(path)})`, `(deny file-write* ${subpath(path)})`];
      if (access.startsWith("hidden")) return [`(deny file-read* file-write* ${subpath(path)})`];
      return access === "write" ? [`(allow file-read* ${subpath(path)})`] : [];
    }),
    `(allow file-read* file-write* ${subpath(temp)})`,
    // A folder on the way to a place that is kept cannot be moved away.
    ...places.filter(({ access }) => access === "write").map(({ path }) => `(deny file-write-unlink (literal ${text(path)}))`),
    // Services that start programs, keep keys, or hold what was copied act for the user, outside of every sandbox.
    `(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc") (global-name "com.apple.pasteboard.1"))`,
    `(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd") (global-name "com.apple.lsd.open"))`,
    `(deny appleevent-send)`,
    `(deny process-info* (target others))`,
    `(deny signal (target others))`,
    `(allow signal (target same-sandbox))`,
    ...networkRules(network, temp, paths("write")),
  ];
  return `${lines.filter((line) => line !== "").join("\n")}\n`;
}

function networkRules(network: SeatbeltNetwork, temp: string, writable: readonly string[]): string[] {
  if (network === "all") return [];
  // Sockets that are files may only be those of the command's own folders.
  const none = ["(deny network*)", allowed("allow", "network*", [temp, ...writable])];
  if (network === "off") return none;
  if (network === "loopback") return [...none, `(allow network* (local ip "localhost:*"))`, `(allow network* (remote ip "localhost:*"))`];
  return [...none, `(allow network-outbound (remote ip "localhost:${network.proxyPort}"))`];
}

function allowed(verb: string, operation: string, paths: readonly string[]): string {
  return paths.length === 0 ? "" : `(${verb} ${operation} ${paths.map(subpath).join(" ")})`;
}

function subpath(path: string): string {
  return `(subpath ${text(path)})`;
}

/** A string of the profile's language. */
function text(path: string): string {
  return `"${path.replace(/[\\"]/g, "\\$&")}"`;
}
