/** The sandbox that this system has, and the words for the case that it has none. */
import { access, constants, realpath } from "node:fs/promises";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { ParleyError } from "../../core/errors.js";
import { startTree } from "../../os/processes/process.js";
import { bubblewrapArgv } from "./bubblewrap.js";

export interface SandboxSystem {
  name: "bubblewrap" | "seatbelt";
  /** Absolute. */
  program: string;
}

const SEATBELT = "/usr/bin/sandbox-exec";

/** Throws a fault with the remedy where there is none. Programs in `writable` folders are not used: a command may have put them there. */
export async function findSystem(
  platform: string = process.platform,
  path: string | undefined = process.env["PATH"],
  writable: readonly string[] = [],
): Promise<SandboxSystem> {
  if (platform === "darwin") {
    if (await isProgram(SEATBELT)) return { name: "seatbelt", program: SEATBELT };
    throw noSandbox(`${SEATBELT} is not there`);
  }
  if (platform !== "linux") throw noSandbox("only Linux and macOS have one that Parley knows; work in a container or a virtual machine");
  const bwrap = await findProgram("bwrap", path, writable);
  if (bwrap !== undefined) return { name: "bubblewrap", program: bwrap };
  throw noSandbox("bubblewrap was not found; install it ('apt install bubblewrap', 'dnf install bubblewrap', 'apk add bubblewrap')");
}

/** Finds the sandbox and runs an empty command in it. Throws a fault with the remedy where that fails. */
export async function trySystem(path: string | undefined): Promise<SandboxSystem> {
  const system = await findSystem(process.platform, path);
  const { name, program } = system;
  const nothing = ["/bin/sh", "-c", ":"];
  const argv =
    name === "bubblewrap"
      ? bubblewrapArgv(nothing, "/", { bwrap: program, boundary: { places: [] }, sharesNetwork: false })
      : [program, "-p", "(version 1)(allow default)", ...nothing];
  const problem = await triedProblem(argv);
  if (problem !== undefined) throw noSandbox(problem);
  return system;
}

/** A sentence about a sandbox in which not even an empty command runs. */
export async function triedProblem(argv: readonly string[]): Promise<string | undefined> {
  const tree = await startTree(argv, { env: { PATH: process.env["PATH"] }, stdio: ["ignore", "ignore", "pipe"], isAlone: true });
  let said = "";
  tree.child.stderr?.on("data", (text: Buffer) => (said = (said + text.toString()).slice(0, 300)));
  const { code, signal } = await tree.exited;
  if (code === 0) return undefined;
  const how = said.trim().replace(/\s+/g, " ") || (signal === null ? `exit code ${code}` : signal);
  return `${how}. ${REFUSED}`;
}

const REFUSED =
  "The system refuses it in most containers, and where kernel.unprivileged_userns_clone=0 or kernel.apparmor_restrict_unprivileged_userns=1";

export function noSandbox(why: string): ParleyError {
  return new ParleyError({ code: "sandbox", message: `There is no sandbox: ${why}`, retryable: false, param: "sandbox" });
}

/** Its absolute path, from a PATH. */
export async function findProgram(name: string, path = "", writable: readonly string[] = []): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const program = join(folder, name);
    const real = (await isProgram(program)) ? await realpath(program) : undefined;
    if (real !== undefined && ![program, real].some((each) => writable.some((root) => each.startsWith(root + sep)))) return program;
  }
  return undefined;
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
