/** The matrix without processes: `relay` between streams and a memory pair, the real engine with the rehearsal model behind it. */
import { mkdtempSync, rmSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { Agent } from "../../src/core/agent.js";
import { mintId } from "../../src/core/ids.js";
import type { Closed } from "../../src/core/event.js";
import type { Launch, Transport } from "../../src/core/wire.js";
import { buildEngine } from "../../src/cli/compose/build-engine.js";
import { COMMANDS } from "../../src/cli/command-line/commands.js";
import { parseFlags, settingsFlags, type Parsed } from "../../src/cli/command-line/flags.js";
import { launchOf } from "../../src/cli/command-line/opening.js";
import { inOurWords, hostProgramAsked } from "../../src/cli/command-line/host-program.js";
import { exitCode, relayOpening } from "../../src/cli/relay/relay.js";
import { relayedSwitches } from "../../src/cli/serve/structured-flags.js";
import { sessionMap } from "../../src/cli/relay/session-map.js";
import { loadDialect, type Dialect } from "../../src/dialects/index.js";
import { loadSettings, type Loaded } from "../../src/settings/settings.js";
import { relay } from "../../src/link/relay.js";
import { serve } from "../../src/link/serve.js";
import { memoryPair } from "../../src/transports/memory.js";
import { LineWriter, readFrames } from "../../src/transports/streams.js";
import { processesWith, until } from "../process/harness.js";
import { onLines } from "../support/program.js";
import { quiet } from "../support/wires.js";
import { agents, driving, oneByOne, withFolder, withoutReasons } from "./agents.js";
import { Host, type Ended } from "./host.js";
import { hosts } from "./hosts.js";
import { files, type OpenRoom } from "./in-processes.js";

/** The mark of every process that a tool of these rooms starts. */
const MARK = `matrix-${randomBytes(9).toString("hex")}`;

/** Resolves when no tool of any room runs any more. A look at all processes costs as much as a scenario, so it is taken once. */
export async function toolsGone(): Promise<void> {
  await until(() => processesWith(MARK).length === 0);
}

export function memoryRoom(as: string, drive: string): OpenRoom {
  const [dir, home] = [files(), mkdtempSync(join(tmpdir(), "parley-home-"))];
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, PARLEY_HOME: home, MATRIX: MARK };
  const started: Host[] = [];
  return {
    dir,
    reasons: !withoutReasons.has(as) && !withoutReasons.has(drive),
    together: !oneByOne.has(as) && !oneByOne.has(drive),
    async start(opening = {}) {
      const script = hosts[as]?.(mintId());
      const agent = agents[drive];
      if (script === undefined || agent === undefined)
        throw new Error(`No script of a host of '${as}', or no command of an agent of '${drive}'`);
      const [asDialect, driveDialect] = [await loadDialect(as), await loadDialect(drive)];
      const flags = ["relay", ...driving(drive), ...script.flags(opening)];
      const loaded = await settings(flags, env, dir);
      const open = relayOpening(loaded, asDialect, driveDialect);
      const wire = streams(asDialect);
      const driven = dialer(driveDialect, agent, env, dir);
      const violations: string[] = [];
      let code: number | undefined;
      const running = relay({
        as: asDialect,
        transport: wire.transport,
        drive: driveDialect,
        dial: driven.dial,
        config: { ...(withFolder.has(drive) && { cwd: dir }), ...open.config },
        sessions: sessionMap(home, drive),
        onViolation: (violation) => violations.push(violation),
        ...launchOf(asDialect, loaded, { open, switches: relayedSwitches(parsedOf(flags)) }),
      });
      const ended = running.closed.then(async (closed): Promise<Ended> => {
        await Promise.all(driven.engines.map((engine) => engine.close()));
        return { code: code ?? exitCode(closed), violations, stderr: "" };
      });
      const host = new Host(script, {
        write: (text) => wire.input.write(text),
        endInput: () => wire.input.end(),
        terminate() {
          code = 143;
          void running.agent.send({ type: "shutdown", when: "now" });
        },
        // What the host said before has been heard.
        killAgent: () => void quiet().then(driven.kill),
        ended,
      });
      wire.onLine((line) => host.hear(line));
      started.push(host);
      for (const record of script.open({ ...opening, cwd: dir })) host.send(record);
      await host.next("ready");
      return host;
    },
    async leave() {
      for (const host of started) host.endInput();
      const ends = await Promise.all(started.map((host) => host.ended));
      for (const folder of [dir, home]) rmSync(folder, { recursive: true, force: true });
      expect(ends.flatMap(({ violations }) => violations)).toEqual([]);
    },
    heard: () => started.flatMap((host) => host.lines),
    drop() {
      for (const host of started) host.terminate();
    },
  };
}

/** The relay's own end of two streams, and the host's. */
function streams(dialect: Dialect): { transport: Transport; input: PassThrough; onLine(hear: (line: string) => void): void } {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const writer = new LineWriter(output, dialect.framing);
  return {
    input,
    transport: {
      frames: readFrames(input, dialect.framing),
      write: (records) => writer.write(records),
      closed: writer.closed,
      close() {
        input.destroy();
        writer.end();
      },
    },
    onLine: (hear) => onLines(output, (lines) => lines.forEach((line) => hear(line))),
  };
}

/** Dials engines that are served as the command would serve them; `kill` cuts the last wire as a dead process would. */
function dialer(dialect: Dialect, args: readonly string[], env: Record<string, string>, cwd: string) {
  const engines: Agent[] = [];
  let kill = (): void => {};
  async function dial(launch: Launch): Promise<Transport> {
    const loaded = await settings([...args, ...launch.argv], env, launch.cwd ?? cwd);
    const engine = buildEngine(loaded, env);
    engines.push(engine);
    const [near, far] = memoryPair(dialect.framing);
    const { argv: switches, ...rest } = launch;
    const served = serve(engine, dialect, far, launchOf(dialect, loaded, { ...rest, switches }));
    const killed = new Promise<Closed>((resolve) => {
      kill = () => {
        resolve({ code: null, signal: "SIGKILL" });
        far.close("term");
      };
    });
    return { ...near, closed: Promise.race([killed, served]) };
  }
  return { dial, engines, kill: () => kill() };
}

/** What the command would make of these arguments. */
function settings(args: readonly string[], env: Record<string, string>, cwd: string): Promise<Loaded> {
  return loadSettings({ flags: settingsFlags(parsedOf(args)), env, cwd });
}

function parsedOf(args: readonly string[]): Parsed {
  const isCommand = (word: string): boolean => COMMANDS.some(({ name }) => name !== "" && name === word);
  const asked = hostProgramAsked(args, undefined, isCommand);
  const words = asked === undefined ? args : inOurWords(args, asked, {}, isCommand, () => {});
  const command = COMMANDS.find(({ name }) => name === (isCommand(words[0] ?? "") ? words[0] : ""));
  return parseFlags(command?.name === "" ? words : words.slice(1), command?.flags ?? []);
}
