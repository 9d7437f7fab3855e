/** The system's keyring, by its own command: `secret-tool` on Linux, `security` on macOS. */
import { spawn } from "node:child_process";
import { messageOf, ParleyError, systemCode } from "../core/errors.js";

const SERVICE = "parley";
/** A keyring that is locked asks its user first. */
const WAIT_MS = 60_000;

interface Command {
  argv: readonly string[];
  input?: string;
}

interface Keyring {
  get(account: string): Command;
  set(account: string, secret: string): Command;
  remove(account: string): Command;
  /** The package that brings the command. */
  remedy: string;
}

const KEYRINGS: Readonly<Record<string, Keyring>> = {
  linux: {
    get: (account) => ({ argv: ["secret-tool", "lookup", "service", SERVICE, "account", account] }),
    set: (account, secret) => ({
      argv: ["secret-tool", "store", `--label=Parley: ${account}`, "service", SERVICE, "account", account],
      input: secret,
    }),
    remove: (account) => ({ argv: ["secret-tool", "clear", "service", SERVICE, "account", account] }),
    remedy: "install it (libsecret-tools), or leave --keyring out",
  },
  darwin: {
    get: (account) => ({ argv: ["security", "find-generic-password", "-s", SERVICE, "-a", account, "-w"] }),
    // As an argument the secret would be visible to every user of the machine.
    set: (account, secret) => ({
      argv: ["security", "-i"],
      input: `add-generic-password -U -s ${SERVICE} -a ${quoted(account)} -w ${quoted(secret)}\n`,
    }),
    remove: (account) => ({ argv: ["security", "delete-generic-password", "-s", SERVICE, "-a", account] }),
    remedy: "leave --keyring out",
  },
};

/** Undefined where the keyring has none. Throws where there is no keyring. */
export async function keyringSecret(account: string): Promise<string | undefined> {
  const { code, stdout } = await run((keyring) => keyring.get(account));
  const secret = stdout.trim();
  return code === 0 && secret !== "" ? secret : undefined;
}

export async function keepInKeyring(account: string, secret: string): Promise<void> {
  const { code, stderr } = await run((keyring) => keyring.set(account, secret));
  // `security -i` leaves with 0 whatever its commands did.
  if (code !== 0 || (await keyringSecret(account)) !== secret)
    throw refused(`The keyring did not take the key${stderr === "" ? "" : `: ${stderr}`}; unlock it, or leave --keyring out`);
}

export async function removeFromKeyring(account: string): Promise<void> {
  await run((keyring) => keyring.remove(account));
}

async function run(command: (keyring: Keyring) => Command): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const keyring = KEYRINGS[process.platform];
  if (keyring === undefined) throw refused("There is no keyring command for this system; leave --keyring out");
  const {
    argv: [file = "", ...args],
    input = "",
  } = command(keyring);
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"], timeout: WAIT_MS });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      const why = systemCode(error) === "ENOENT" ? `'${file}' was not found` : messageOf(error);
      reject(refused(`The keyring cannot be used: ${why}; ${keyring.remedy}`));
    });
    child.once("close", (code) => resolve({ code, stdout: output.stdout, stderr: output.stderr.trim().slice(0, 200) }));
  });
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function refused(message: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false });
}
