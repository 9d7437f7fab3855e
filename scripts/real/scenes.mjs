/**
 * The scenes that each real program plays: agents through `drive()`, and one through `parley relay`; hosts with Parley as their agent. A
 * scene that does not go well throws.
 */
import { spawn } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { loadDialect } from "../../dist/lib/dialects.js";
import { Driven, EVENT_MS, expect, untilNextMinute } from "./driven.mjs";
import { MORE } from "./more.mjs";
import { SECRET } from "./model-server.mjs";
import { KEY } from "./programs.mjs";

const PARLEY = join(import.meta.dirname, "../../dist/parley.js");
const HOSTS = join(import.meta.dirname, "hosts");
const HOST_MS = 10 * EVENT_MS;

export const SCENES = ["text", "thinking", "tool allowed", "tool denied", "interrupted", "resumed", "killed", "relayed"];

/** Plays them one after the other, and tells of each "works" or the reason why not. `started` is the program's command and environment. */
export async function playAgent(program, started) {
  const results = {};
  const lacks = program.needs?.find((command) => !isInPath(command, started.env.PATH));
  const play = async (name, scene) => {
    results[name] = await scene().then(
      () => "works",
      (error) => plain(`${error.message}${lacks === undefined ? "" : ` (and ${lacks} is not here)`}`, started),
    );
    console.error(`${program.name}: ${name}: ${results[name]}`);
  };
  const dialect = await loadDialect(program.dialect);
  const config = { cwd: started.workspace, mode: "default", ...(program.model !== undefined && { model: program.model }) };

  const first = new Driven(dialect, started);
  let sessionId;
  await play("text", async () => {
    sessionId = (await first.open({ open: "new", config })).sessionId;
    const told = await first.turn(`#say the word is ${SECRET}`);
    expect(told.text === "hello", `it said ${JSON.stringify(told.text)}`);
    expect(told.ended.usage !== undefined, "it told no usage");
  });
  if (sessionId === undefined) {
    await first.agent.close();
    for (const name of SCENES.slice(1)) results[name] = "not played, for there was no session";
    return { scenes: results };
  }
  await play("thinking", async () => {
    const { of } = await first.turn("#think");
    const thoughts = of("thinking.done").map(({ text }) => text);
    expect(thoughts.join(" ").includes("birds"), `it told the thoughts ${JSON.stringify(thoughts)}`);
  });
  await play("tool allowed", () => toolTurn(first, started.workspace, "allow"));
  await play("tool denied", () => toolTurn(first, started.workspace, "deny"));
  await play("interrupted", async () => {
    const turn = first.prompt("#slow");
    await first.next(`the first words of ${turn}`, (event) => event.type === "text.delta" && event.turn === turn);
    await first.send({ type: "turn.interrupt", turn });
    const { outcome } = await first.end(turn);
    expect(outcome === "interrupted", `the turn was ${outcome}`);
    const { text } = await first.turn("#say more");
    expect(text === "hello", `and then it said ${JSON.stringify(text)}`);
  });
  await first.agent.close();

  const again = new Driven(dialect, started);
  await play("resumed", async () => {
    if (program.resumesInNextMinute) await untilNextMinute();
    await again.open({ open: "resume", sessionId, config });
    const { text } = await again.turn("#recall");
    expect(text.includes(SECRET), `it said ${JSON.stringify(text)}`);
  });
  await again.agent.close();

  const doomed = new Driven(dialect, started);
  await play("killed", async () => {
    await doomed.open({ open: "new", config });
    const turn = doomed.prompt("#slow");
    await doomed.next(`the first words of ${turn}`, (event) => event.type === "text.delta" && event.turn === turn);
    // The program and what it started: several are a launcher in front of the program that speaks.
    process.kill(-doomed.pid(), "SIGKILL");
    const { outcome } = await doomed.end(turn);
    expect(outcome === "failed", `the turn was ${outcome}`);
  });
  await doomed.agent.close();

  await play("relayed", () => relayed(program, started, config));
  return { scenes: results, more: await playMore(program, dialect, started, config, sessionId) };
}

/** What works besides: each in a process of its own, and a failure says that the program, its wire or Parley does not have it. */
async function playMore(program, dialect, started, config, sessionId) {
  const results = {};
  for (const [name, scene] of Object.entries(MORE)) {
    const driven = new Driven(dialect, started);
    results[name] = await scene({ driven, config, sessionId, ...started }).then(
      () => "works",
      (error) => plain(error.message, started),
    );
    await driven.agent.close();
    console.error(`${program.name}: ${name}: ${results[name]}`);
  }
  return results;
}

function isInPath(command, path) {
  return path.split(delimiter).some((folder) => existsSync(join(folder, command)));
}

async function toolTurn(driven, workspace, decision) {
  const file = `${decision}.txt`;
  const turn = driven.prompt(`#run {{touch ${file}}}`);
  const asked = await driven.next(
    "a question",
    (event) => event.turn === turn && (event.type === "approval.requested" || event.type === "turn.ended"),
  );
  expect(asked.type === "approval.requested", "nobody was asked");
  expect(!existsSync(join(workspace, file)), "it ran before anybody had answered");
  await driven.send({ type: "approval.answer", answers: asked.calls.map(({ id }) => ({ call: id, decision })) });
  const { outcome } = await driven.end(turn);
  const [ended] = driven.events.filter((event) => event.type === "tool.ended" && event.turn === turn);
  const wanted = decision === "allow" ? "ok" : "denied";
  expect(ended?.status === wanted, `the call was ${ended?.status}`);
  expect(existsSync(join(workspace, file)) === (decision === "allow"), `the file is ${decision === "allow" ? "not " : ""}there`);
  // Some programs end their turn at a denial.
  expect(outcome === "completed" || (decision === "deny" && outcome === "interrupted"), `the turn was ${outcome}`);
}

/** The same program behind `parley relay`, with a host that writes its ops and closes its end. */
async function relayed(program, { argv, env, workspace }, config) {
  const { code, stdout, stderr } = await run(
    [process.execPath, PARLEY, "relay", "--as", "native", "--drive", program.dialect, "--check", "--", ...argv],
    {
      cwd: workspace,
      env,
      input: [
        { type: "session.open", session: "s", open: "new", config },
        { type: "turn.prompt", session: "s", parts: [{ type: "text", text: "#say hello" }] },
      ],
    },
  );
  const events = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  const said = events.flatMap(({ type, text }) => (type === "text.done" ? [text] : [])).join("");
  expect(said === "hello", `it said ${JSON.stringify(said)}; ${stderr.trim().split("\n").at(-1)}`);
  expect(code === 0, `the relay left with ${code}: ${stderr.trim().split("\n").at(-1)}`);
}

/** A host drives Parley, whose model is the scripted server: its script plays the scenes beside the installed package. */
export async function playHost(program, { folder, path, home, workspace, env, url, shims }) {
  for (const script of ["play.mjs", program.script]) copyFileSync(join(HOSTS, script), join(folder, script));
  const model = ["--provider", "local", "--base-url", `${url}/v1`, "--model", "model"];
  const given = {
    url,
    key: KEY,
    workspace,
    shims,
    secret: SECRET,
    package: program.package,
    shell: program.shell,
    options: program.options?.({ shims, url }),
    acp: [process.execPath, PARLEY, "acp", ...model, "--trust-workspace"],
  };
  const node = path
    .split(delimiter)
    .map((each) => join(each, "node"))
    .find(existsSync);
  const { stdout, stderr } = await run([node, join(folder, program.script)], {
    cwd: folder,
    env: { ...env, PARLEY_HOME: join(home, ".parley"), PARLEY_REAL: JSON.stringify(given) },
    limitMs: HOST_MS,
  });
  const told = stdout.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  if (told.length === 0) throw new Error(`its script said nothing: ${stderr.trim().split("\n").at(-1)}`);
  const results = Object.fromEntries(told.map(({ scene, result }) => [scene, plain(result, { workspace, home })]));
  for (const [scene, result] of Object.entries(results)) console.error(`${program.name}: ${scene}: ${result}`);
  return { scenes: results };
}

/** A command to its end, which comes by its id after a while. */
async function run([command, ...args], { cwd, env, input = [], limitMs = 2 * EVENT_MS }) {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const chunks = { stdout: [], stderr: [] };
  for (const name of ["stdout", "stderr"]) child[name].on("data", (chunk) => chunks[name].push(chunk));
  child.stdin.on("error", () => {});
  child.stdin.end(input.map((op) => `${JSON.stringify(op)}\n`).join(""));
  const endGroup = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  };
  const timer = setTimeout(endGroup, limitMs);
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve)).finally(() =>
    clearTimeout(timer),
  );
  endGroup();
  return { code, stdout: Buffer.concat(chunks.stdout).toString(), stderr: Buffer.concat(chunks.stderr).toString() };
}

/** One line without the folders of this machine. */
function plain(message, { workspace, home = workspace }) {
  return message.replaceAll(workspace, "WORKSPACE").replaceAll(home, "HOME").replaceAll(/\s+/g, " ").trim().slice(0, 200);
}
