/** `parley upgrade --check`: asks npm whether there is a newer version. Nothing else of Parley looks for one. */
import { spawn } from "node:child_process";
import { ParleyError, systemCode } from "../../core/errors.js";
import { VERSION } from "../version.js";

const PACKAGE = "agent-parley";
const WAIT_MS = 30_000;
const INSTALL = `'npm install -g ${PACKAGE}@latest' installs it`;

export async function checkForUpgrade(): Promise<string> {
  const newest = await newestVersion();
  if (isNewer(newest, VERSION)) return `Version ${newest} is there, and this is ${VERSION}; ${INSTALL}.\n`;
  return `This is the newest version: ${VERSION}${newest === VERSION ? "" : ` (npm has ${newest})`}.\n`;
}

async function newestVersion(): Promise<string> {
  const { code, stdout, stderr } = await npmView();
  const version = stdout.trim();
  if (code === 0 && /^\d+\.\d+\.\d+/.test(version)) return version;
  if (stderr.includes("E404"))
    throw refused(`npm has no package '${PACKAGE}'; was it installed from elsewhere? Then look there for a newer version`);
  const why = stderr
    .split("\n")
    .find((line) => /\b(E[A-Z]{3,}|network|request)\b/.test(line))
    ?.replace(/^npm (error|ERR!) */i, "");
  throw refused(
    `npm could not tell the newest version${why === undefined ? "" : ` (${why.trim()})`}; is this machine offline? Try again with a network`,
  );
}

function npmView(): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const isWindows = process.platform === "win32";
  const child = spawn(isWindows ? "npm.cmd" : "npm", ["view", PACKAGE, "version", "--fetch-retries=0"], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: WAIT_MS,
    shell: isWindows,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      const isMissing = systemCode(error) === "ENOENT";
      reject(refused(isMissing ? "npm was not found; it comes with Node.js" : `npm could not be started: ${error.message}`));
    });
    child.once("close", (code) => resolve({ code, ...output }));
  });
}

/** By the numbers; a version behind a dash comes before the one without. */
function isNewer(one: string, other: string): boolean {
  const [numbers, others] = [numbersOf(one), numbersOf(other)];
  const at = numbers.findIndex((number, index) => number !== others[index]);
  if (at !== -1) return (numbers[at] ?? 0) > (others[at] ?? 0);
  return !one.includes("-") && other.includes("-");
}

function numbersOf(version: string): number[] {
  return (version.split(/[-+]/)[0] ?? "").split(".").map(Number);
}

function refused(message: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false });
}
