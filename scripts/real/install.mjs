/** Installs a pinned program into a folder of its own below the cache, unless it is there already. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** The Node that programs get which want a newer one than runs this. */
const NODE = "node@22";
const LIMIT_MS = 15 * 60_000;
const NO_NETWORK = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED/;

/** Where the program lies, and the PATH that it is started with. Throws an error whose message says what is missing. */
export async function install(program, cache) {
  const folder = join(cache, program.name);
  const wantsNode = Number(process.versions.node.split(".")[0]) < program.node;
  const nodeBin = join(folder, "node_modules", "node", "bin");
  if (versionIn(folder, program.package) !== program.version || (wantsNode && !existsSync(nodeBin))) {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(join(folder, "package.json"))) writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    await npmInstall(program, folder, [`${program.package}@${program.version}`, ...(wantsNode ? [NODE] : [])]);
  }
  return {
    folder,
    bin: (name) => join(folder, "node_modules", ".bin", name),
    path: [...(wantsNode ? [nodeBin] : []), dirname(process.execPath), process.env.PATH].join(delimiter),
  };
}

function versionIn(folder, name) {
  try {
    return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
  } catch {
    return undefined;
  }
}

async function npmInstall({ name, package: pack, version }, folder, packages) {
  console.error(`${name}: installing ${pack}@${version} into ${folder}`);
  // A group of its own, so that what the installer starts can be ended with it.
  const child = spawn("npm", ["install", "--no-audit", "--no-fund", "--fetch-retries=1", ...packages], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (text) => (said = (said + text).slice(-4000)));
  const endGroup = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  };
  const timer = setTimeout(endGroup, LIMIT_MS);
  const code = await new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new Error(`npm could not be started: ${error.message}`)));
    child.once("close", resolve);
  }).finally(() => clearTimeout(timer));
  if (code === 0 && versionIn(folder, pack) === version) return;
  if (NO_NETWORK.test(said))
    throw new Error(`${pack}@${version} is not in ${folder}, and the npm registry cannot be reached: run this once with a network`);
  throw new Error(`npm install ${packages.join(" ")} failed in ${folder}: ${said.trim().split("\n").at(-1) || `exit ${code}`}`);
}
