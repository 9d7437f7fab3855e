/** The boundary as arguments of bubblewrap (`bwrap`), which makes it out of the namespaces of Linux. */
import type { Boundary, Place } from "./boundary.js";

export interface Wrapping {
  /** The program itself. */
  bwrap: string;
  boundary: Boundary;
  /** The system's network is the command's, too. */
  sharesNetwork: boolean;
}

/**
 * There is no `--new-session`: a tree of ours is a session without a terminal from its start, so no terminal can be fed with input, and
 * everything stays in the one process group by which the tree is ended. Nor `--die-with-parent`: a server that a command leaves behind may
 * live as long as its session, and the watcher (os/processes) ends it when we die.
 */
const NAMESPACES = "--unshare-user --unshare-ipc --unshare-pid --unshare-uts --unshare-cgroup-try".split(" ");

/**
 * Without capabilities no mount can be undone, which matters for root, who would have them all in a namespace of its own. `/proc` is
 * read-only, because root owns the settings of the kernel in it; `/run` holds the sockets of services.
 */
const SYSTEM = "--cap-drop ALL --ro-bind / / --dev /dev --proc /proc --remount-ro /proc --tmpfs /run".split(" ");

/** NixOS has its programs below /run. */
const SHOWN_IN_RUN = ["/run/current-system", "/run/opengl-driver"];
/** The names of hosts are looked up by what these files say. */
const FOR_NETWORK = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf"];

export function bubblewrapArgv(argv: readonly string[], cwd: string, { bwrap, boundary, sharesNetwork }: Wrapping): string[] {
  const { places } = boundary;
  return [
    bwrap,
    ...NAMESPACES,
    ...(sharesNetwork ? [] : ["--unshare-net"]),
    ...SYSTEM,
    ...[...SHOWN_IN_RUN, ...(sharesNetwork ? FOR_NETWORK : [])].flatMap((path) => ["--ro-bind-try", path, path]),
    ...places.flatMap(mount),
    ...["/run", ...places.filter(({ access }) => access === "hidden folder").map(({ path }) => path)].flatMap((path) => [
      "--remount-ro",
      path,
    ]),
    "--chdir",
    cwd,
    "--",
    ...argv,
  ];
}

/** A place that somebody has removed meanwhile is left out; commands cannot remove one. */
function mount({ path, access, source = path }: Place): string[] {
  switch (access) {
    case "temp":
    case "write":
      return ["--bind-try", source, path];
    case "read":
    case "hidden file":
      return ["--ro-bind-try", source, path];
    case "hidden folder":
      return ["--tmpfs", path];
    default:
      return access satisfies never;
  }
}
