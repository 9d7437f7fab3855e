/**
 * The sandbox of a session: commands run behind a boundary that the operating system keeps. boundary.ts draws it from the table in places.ts,
 * bubblewrap.ts and seatbelt.ts put it into the words of their systems, and whoever starts a program asks here for its command line.
 */
import { lstatSync, realpathSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inheritedDescriptors } from "../../os/processes/descriptors.js";
import { absolute, drawBoundary, placeAround, type Boundary, type BoundarySources, type Place } from "./boundary.js";
import { bubblewrapArgv } from "./bubblewrap.js";
import type { Network, NetworkOptions } from "./network/network.js";
import { LEFT_OUT, PROXIES } from "./places.js";
import { findSystem, noSandbox, triedProblem, type SandboxSystem } from "./system.js";
import { seatbeltProfile } from "./seatbelt.js";

export interface SandboxOptions {
  /** `required` refuses a session where there is no sandbox; `auto` runs it without one then, and its host is told. */
  mode: "auto" | "required";
  /** `off` unless told otherwise. */
  network?: NetworkOptions | undefined;
  /** Further paths that commands may write; those that may be read although they are hidden; and further ones to hide. */
  write?: readonly string[];
  read?: readonly string[];
  hide?: readonly string[];
  /** Hooks run in it, too; unless told otherwise they do. */
  hooks?: boolean;
  /** Names of MCP servers that are started in it; `*` for all. */
  mcpServers?: readonly string[];
}

/** The reach of one command beyond the boundary, after a yes to it. */
export interface Needs {
  /** No sandbox at all. */
  outside?: boolean;
  /** The network of the system. */
  network?: boolean;
  /** Further paths to write: absolute and real. */
  write?: readonly string[];
}

const TEMP = "/tmp";

/** The rest of the session's surroundings. */
export type SandboxPlace = Pick<BoundarySources, "root" | "directories" | "home" | "userHome">;

/** Throws a fault that names what is missing and what to do about it. */
export async function openSandbox(options: SandboxOptions, place: SandboxPlace): Promise<Sandbox> {
  const writable = [place.root, ...place.directories, ...(options.write ?? []).map((path) => absolute(path, place))];
  const system = await findSystem(process.platform, process.env["PATH"], writable);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "parley-sandbox-")));
  const sandbox = await drawIn({ folder, writable }, system, options, place).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  const problem = await triedProblem(sandbox.confine(["/bin/sh", "-c", ":"], place.root));
  if (problem === undefined) return sandbox;
  await sandbox.close();
  throw noSandbox(problem);
}

async function drawIn(
  own: { folder: string; writable: readonly string[] },
  system: SandboxSystem,
  options: SandboxOptions,
  place: SandboxPlace,
): Promise<Sandbox> {
  const { folder } = own;
  await Promise.all(["tmp", "outputs"].map((name) => mkdir(join(folder, name), { mode: 0o700 })));
  await writeFile(join(folder, "empty"), "");
  const { write = [], read = [], hide = [], network = "off" } = options;
  const boundary = await drawBoundary({ ...place, folder, write, read, hide, replacesTemp: system.name === "bubblewrap" });
  const { openNetwork } = await import("./network/network.js");
  return new Sandbox(folder, system, boundary, await openNetwork(network, system, own), options);
}

export class Sandbox {
  /** The session's own folder. */
  readonly folder: string;
  readonly #system: SandboxSystem;
  readonly #boundary: Boundary;
  readonly #network: Network;
  readonly #options: SandboxOptions;
  readonly #closing = closing(inheritedDescriptors());

  constructor(folder: string, system: SandboxSystem, boundary: Boundary, network: Network, options: SandboxOptions) {
    this.folder = folder;
    this.#system = system;
    this.#boundary = boundary;
    this.#network = network;
    this.#options = options;
  }

  get name(): SandboxSystem["name"] {
    return this.#system.name;
  }

  /** Whether hooks run in it. */
  get hasHooks(): boolean {
    return this.#options.hooks ?? true;
  }

  /** Whether the MCP server of that name is started in it. */
  hasServer(name: string): boolean {
    const { mcpServers = [] } = this.#options;
    return mcpServers.includes(name) || mcpServers.includes("*");
  }

  /** The temporary folder as commands see it, and where it lies. */
  get temp(): { inside: string; outside: string } {
    const own = join(this.folder, "tmp");
    if (this.#system.name === "seatbelt") return { inside: own, outside: own };
    // In a workspace that holds it, the system's own is the command's.
    return { inside: TEMP, outside: placeAround(TEMP, this.#boundary.places)?.access === "temp" ? own : TEMP };
  }

  /** Words for the model about what its commands can do. */
  get words(): string {
    const { inside } = this.temp;
    return `Commands run in a sandbox: they write only in the workspace and ${inside}, and see no keys or logins. ${this.#network.words}`;
  }

  /**
   * The command line that runs a command behind the boundary. `cwd`: absolute and real. Throws where somebody has put a link in the place of
   * a file or folder that is kept.
   */
  confine(argv: readonly string[], cwd: string, { outside, network = false, write = [] }: Needs = {}): string[] {
    if (outside === true) return [...argv];
    const { name, program } = this.#system;
    const own = this.#network;
    const places = this.#boundary.places.filter(isThere);
    // A path that may be written anyway needs no mount, and commands could put a link there.
    const further = write.filter((path) => !isWritable(placeAround(path, places))).map((path) => ({ path, access: "write" as const }));
    const boundary = { places: [...places, ...further] };
    const variables = withVariables(network ? LEFT_OUT : [...LEFT_OUT, ...PROXIES], {
      TMPDIR: this.temp.inside,
      ...(!network && own.variables),
    });
    if (name === "seatbelt") {
      return [...variables, program, "-p", seatbeltProfile(boundary, this.temp.outside, network ? "all" : own.seatbelt), ...argv];
    }
    const wrapping = { bwrap: program, boundary, sharesNetwork: network || own.isShared };
    return [...variables, ...(network ? [] : own.entering), ...bubblewrapArgv([...this.#closing, ...argv], cwd, wrapping)];
  }

  /** Removes what a command that has ended must not leave behind. */
  sweep(): void {
    for (const path of this.#boundary.barred ?? []) rmSync(path, { recursive: true, force: true });
  }

  /** Removes what was made for the sandbox. Nothing may run in it any more. */
  async close(): Promise<void> {
    this.sweep();
    await this.#network.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The words in front of a command that close what our own parent left open for us: a file or a connection from outside. */
function closing(descriptors: readonly number[]): string[] {
  if (descriptors.length === 0) return [];
  // Other shells than bash know descriptors of one digit.
  const shell = descriptors.some((fd) => fd > 9) ? "bash" : "sh";
  return [shell, "-c", `exec ${descriptors.map((fd) => `${fd}>&-`).join(" ")}; exec "$@"`, shell];
}

/** The environment is changed in front of everything: the first process in the sandbox shows the one that it was started with. */
function withVariables(unset: readonly string[], set: Readonly<Record<string, string>>): string[] {
  return ["/usr/bin/env", ...unset.flatMap((name) => ["-u", name]), ...Object.entries(set).map(([name, value]) => `${name}=${value}`)];
}

function isWritable(place: Place | undefined): boolean {
  return place?.access === "write" || place?.access === "temp";
}

/** Nothing can be hidden where nothing is, and nothing kept; a link that has come up leads elsewhere. */
function isThere({ path, access, source }: Place): boolean {
  if (source !== undefined && access !== "hidden file") return true;
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  if (realpathSync(path) === path) return true;
  throw noSandbox(`a symbolic link has come up on the way to ${path}; remove it, or begin another session`);
}
