/** llama.cpp's server as a child process: found, started on a free loopback port, waited for, and ended with us. */
import { access, constants, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ParleyError, messageOf, systemCode } from "../../core/errors.js";
import { toolEnvironment } from "../../core/secrets/secrets.js";
import type { Env } from "../../settings/settings.js";
import { startTree, type Exit, type Tree } from "../../os/processes/process.js";
import { Tail } from "../../os/processes/tail.js";

/** The smallest context that an agent needs. */
export const CONTEXT_TOKENS = 32_768;

/** A large model on a slow disk takes minutes. */
const WAIT_MS = 10 * 60_000;
const LOOK_MS = 200;
const PROBE_MS = 2000;
const SAY_MS = 3000;
const GRACE_MS = 2000;
const QUOTED_LINES = 5;

export interface LlamaServer {
  /** The API root. */
  url: string;
  end(): Promise<void>;
}

export interface LlamaOptions {
  /** The name of the model. */
  name: string;
  /** Undefined means `llama-server` on PATH. */
  program?: string | undefined;
  env: Env;
  say(line: string): void;
  waitMs?: number;
}

/** Resolves when the server answers. Rejects with a fault that quotes its last output and names the remedy. */
export async function startLlamaServer(file: string, options: LlamaOptions): Promise<LlamaServer> {
  await checkModel(file);
  const program = options.program ?? "llama-server";
  const port = await freePort();
  const argv = [program, "--model", file, "--alias", options.name, "--host", "127.0.0.1", "--port", String(port)];
  const tree = await start([...argv, "--ctx-size", String(CONTEXT_TOKENS), "--jinja"], options);
  const server = new Watched(tree, program);
  const root = `http://127.0.0.1:${port}`;
  try {
    await answering(root, server, options);
  } catch (error) {
    await tree.end(GRACE_MS);
    throw error;
  }
  void server.ended.then(() =>
    server.isWanted ? options.say(`${server.howItEnded()}Turns fail until Parley is started again.`) : undefined,
  );
  return {
    url: `${root}/v1`,
    end() {
      server.isWanted = false;
      return tree.end(GRACE_MS);
    },
  };
}

/** The child, its last output, and how it ended. */
class Watched {
  readonly ended: Promise<void>;
  isWanted = true;
  exit: Exit | undefined;
  readonly #tail = new Tail();
  readonly #program: string;

  constructor(tree: Tree, program: string) {
    this.#program = program;
    tree.child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#tail.push(text));
    this.ended = tree.exited.then((exit) => {
      this.exit = exit;
    });
  }

  /** A sentence, followed by the server's last output. */
  howItEnded(): string {
    const { code = null, signal = null } = this.exit ?? {};
    return `${this.#program} ${signal === null ? `exited with code ${code ?? "unknown"}` : `was ended by ${signal}`}.${this.lastWords()}`;
  }

  /** The last lines of its output, or a space; another sentence can follow. */
  lastWords(): string {
    const words = this.#tail.lastLines(QUOTED_LINES);
    return words === "" ? " " : ` Its last words:\n${words.replaceAll(/^/gm, "  ")}\n`;
  }
}

async function checkModel(file: string): Promise<void> {
  try {
    if (!(await stat(file)).isFile()) throw fault(`The model '${file}' is not a file; --offline-model takes a GGUF file`);
    await access(file, constants.R_OK);
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    const why = systemCode(error) === "ENOENT" ? "does not exist" : `cannot be read: ${messageOf(error)}`;
    throw fault(`The model '${file}' ${why}; --offline-model takes the path of a GGUF file`);
  }
}

async function start(argv: readonly string[], { program, env }: LlamaOptions): Promise<Tree> {
  try {
    return await startTree(argv, { env: toolEnvironment(env, []), stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    const remedy =
      program === undefined
        ? "install llama.cpp so that it is on PATH, or name the program in config.yaml: llamaServer: /path/to/llama-server"
        : "correct llamaServer in config.yaml";
    throw fault(`${messageOf(error)}; ${remedy}`);
  }
}

async function answering(root: string, server: Watched, { name, say, waitMs = WAIT_MS }: LlamaOptions): Promise<void> {
  const since = performance.now();
  let said = since;
  while (!(await isHealthy(root))) {
    if (server.exit !== undefined)
      throw fault(
        `${server.howItEnded()}The model could not be served; is it a GGUF file that this llama.cpp knows, and is there memory for it?`,
      );
    const now = performance.now();
    const seconds = Math.round((now - since) / 1000);
    if (now - since > waitMs) {
      throw fault(
        `llama-server did not answer within ${seconds} s and was ended.${server.lastWords()}Try a smaller model, or start it yourself and use --provider local`,
      );
    }
    if (now - said >= SAY_MS) {
      said = now;
      say(`llama-server loads ${name} (${seconds} s)`);
    }
    await Promise.race([delay(LOOK_MS), server.ended]);
  }
}

async function isHealthy(root: string): Promise<boolean> {
  try {
    const response = await fetch(`${root}/health`, { redirect: "manual", signal: AbortSignal.timeout(PROBE_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** The port was free a moment ago; the server reports it if another program takes it first. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", resolve);
  });
  const bound = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (bound === null || typeof bound === "string") throw new Error("a listener without a port");
  return bound.port;
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false });
}
