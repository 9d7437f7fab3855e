/** `parley bridge run`: one turn, and its exit code. */
import { createRunner, findProfile, type Runner, type TurnResult } from "../../bridge/index.js";
import { ParleyError } from "../../core/errors.js";
import { STUCK_SECONDS } from "../../core/limits.js";
import { limitStandstill } from "../../os/processes/reaper.js";
import { given, text, usage, type Parsed } from "../command-line/flags.js";
import { turnOf } from "./message.js";
import { forMachines, forPeople, type Output } from "./output.js";
import { byLines, byPolicy, byTerminal, permissionPolicy, type Permissions } from "./permissions.js";
import { wireOf } from "./wire.js";

type Env = Record<string, string | undefined>;

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export async function runBridge(parsed: Parsed, env: Env, cwd: string): Promise<number> {
  const [name] = parsed.positionals;
  if (name === undefined) throw usage("Which profile? parley bridge run PROFILE --message TEXT");
  const wire = wireOf(parsed);
  const policy = permissionPolicy(parsed);
  const turn = await turnOf(parsed);
  const asJson = given(parsed, "json");
  const loaded = await findProfile(name, wire).catch(async (error: unknown) => {
    if (!asJson || !(error instanceof ParleyError)) throw error;
    await forMachines(undefined).result(refused(error.message));
    return undefined;
  });
  if (loaded === undefined) return 1;
  const output = asJson ? forMachines(loaded.profile) : forPeople();
  for (const warning of loaded.warnings) output.warning(warning);
  const permissions = whoAnswers(policy, asJson, text(parsed, "message") === "-", output);
  const stopped = new AbortController();
  const code = stopOnSignal(stopped);
  limitStandstill(STUCK_SECONDS);
  const runner = createRunner(loaded.profile, { env, cwd });
  try {
    const on = { ...output, permission: permissions.ask };
    if (given(parsed, "new")) await forget(runner, turn.sessionName, on, stopped.signal);
    const result = await runner.run(turn, on, stopped.signal);
    const exitCode = code() ?? result.exitCode;
    const isHeard = await output.result({ ...result, exitCode });
    return isHeard ? exitCode : exitCode || 1;
  } finally {
    permissions.close();
    await runner.close();
  }
}

function whoAnswers(policy: "ask" | "allow" | "deny", asJson: boolean, isStdinTaken: boolean, output: Output): Permissions {
  if (policy !== "ask") return byPolicy(policy, "the policy here is to deny");
  if (asJson) return byLines({ isStdinTaken, say: output.say, warn: output.warning });
  if (!isStdinTaken && process.stdin.isTTY && process.stderr.isTTY) return byTerminal(output.endLine);
  return byPolicy("deny", "nobody can be asked here; --permission allow allows it");
}

/** The first signal ends the turn in order, and so does a reader that has left; a second signal ends the process at once. */
function stopOnSignal(stopped: AbortController): () => number | undefined {
  let code: number | undefined;
  for (const [signal, exitCode] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      if (code !== undefined) process.exit(exitCode);
      code = exitCode;
      stopped.abort();
    });
  }
  process.stdout.on("error", () => stopped.abort());
  return () => code;
}

/** A turn that a signal stops before its start says so. */
async function forget(runner: Runner, name: string, on: Pick<Output, "warning">, signal: AbortSignal): Promise<void> {
  try {
    await runner.forget(name, on, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The result for programs when a profile cannot be used. */
function refused(error: string): TurnResult {
  return { reply: "", sessionId: "", error, exitCode: 1, processExitCode: null, signal: null, timedOut: false, truncated: false };
}
