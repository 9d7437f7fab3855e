/** The scenes that each real program plays: through `drive()`, and one through `parley relay`. A scene that does not go well throws. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { drive } from "../../dist/lib/index.js";
import { loadDialect } from "../../dist/lib/dialects.js";
import { SECRET } from "./model-server.mjs";

const PARLEY = join(import.meta.dirname, "../../dist/parley.js");
const EVENT_MS = 90_000;

export const SCENES = ["text", "thinking", "tool allowed", "tool denied", "interrupted", "resumed", "killed", "relayed"];
export const HOST_SCENES = ["text", "tool allowed", "tool denied"];

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
    return results;
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
  return results;
}

function isInPath(command, path) {
  return path.split(delimiter).some((folder) => existsSync(join(folder, command)));
}

function untilNextMinute() {
  return new Promise((resolve) => setTimeout(resolve, 60_000 - (Date.now() % 60_000) + 500));
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

/** One agent, driven, with all that it has told. */
class Driven {
  events = [];
  #waiting = [];
  #isOver = false;
  #turns = 0;
  #stderr = "";

  constructor(dialect, { argv, env, workspace, pidFile }) {
    // The shell writes its id and becomes the program, so that the program can be killed by its id.
    const command = ["/bin/sh", "-c", 'echo $$ > "$0"; exec "$@"', pidFile, ...argv];
    const onStderr = (text) => (this.#stderr = (this.#stderr + text).slice(-2000));
    this.agent = drive(dialect, command, { env: { ...env, PWD: workspace }, onStderr });
    this.pid = () => Number(readFileSync(pidFile, "utf8"));
    void this.#hear();
  }

  send(op) {
    return this.agent.send({ session: "s", ...op });
  }

  async open(how) {
    await this.send({ type: "session.open", id: "open", ...how });
    const told = await this.next("its session", ({ type, to }) => type === "session.ready" || (type === "reply" && to === "session.open"));
    if (told.type === "session.ready") return told;
    throw new Error(told.fault?.message ?? "the session was refused");
  }

  prompt(text) {
    const turn = `t${++this.#turns}`;
    void this.send({ type: "turn.prompt", id: `p-${turn}`, turn, parts: [{ type: "text", text }] });
    return turn;
  }

  end(turn) {
    return this.next(`the end of ${turn}`, (event) => event.type === "turn.ended" && event.turn === turn);
  }

  async turn(prompt) {
    const turn = this.prompt(prompt);
    const ended = await this.end(turn);
    const of = (type) => this.events.filter((event) => event.type === type && event.turn === turn);
    expect(ended.outcome === "completed", `the turn was ${ended.outcome}: ${ended.reason ?? ended.fault?.message ?? ""}`);
    return {
      ended,
      of,
      text: of("text.done")
        .map(({ text }) => text)
        .join(""),
    };
  }

  async next(name, isIt) {
    const deadline = Date.now() + EVENT_MS;
    for (;;) {
      const found = this.events.find(isIt);
      if (found !== undefined) return found;
      const words = this.#stderr.trim().split("\n").at(-1);
      if (this.#isOver) throw new Error(`it was gone before ${name}${words === "" ? "" : `: ${words}`}`);
      if (Date.now() >= deadline) throw new Error(`${name} did not come within ${EVENT_MS / 1000} s`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now());
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  async #hear() {
    for await (const event of this.agent.events) {
      this.events.push(event);
      this.#wake();
    }
    this.#isOver = true;
    this.#wake();
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake();
  }
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

/** A host drives Parley, whose model is the scripted server. */
export async function playHost(program, { argvFor, env, workspace, url }) {
  const agent = [
    process.execPath,
    PARLEY,
    program.dialect,
    "--provider",
    "local",
    "--base-url",
    `${url}/v1`,
    "--model",
    "model",
    "--trust-workspace",
  ];
  const results = {};
  const play = async (name, answer, prompt, isRight) => {
    const { stdout, stderr } = await run(argvFor(answer, agent.join(" "), prompt), { cwd: workspace, env });
    results[name] = isRight(stdout) ? "works" : plain(`${stdout.slice(-200)} ${stderr.slice(-200)}`, { workspace });
    console.error(`${program.name}: ${name}: ${results[name]}`);
  };
  const isThere = (file) => existsSync(join(workspace, file));
  await play("text", program.allow, "#say hello", (said) => said.includes("hello"));
  await play("tool allowed", program.allow, "#run {{touch allow.txt}}", (said) => said.includes("has answered") && isThere("allow.txt"));
  await play("tool denied", program.deny, "#run {{touch deny.txt}}", () => !isThere("deny.txt"));
  return results;
}

/** A command to its end, which comes by its id after a while. */
async function run([command, ...args], { cwd, env, input = [] }) {
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
  const timer = setTimeout(endGroup, 2 * EVENT_MS);
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve)).finally(() =>
    clearTimeout(timer),
  );
  endGroup();
  return { code, stdout: Buffer.concat(chunks.stdout).toString(), stderr: Buffer.concat(chunks.stderr).toString() };
}

function expect(isSo, otherwise) {
  if (!isSo) throw new Error(otherwise);
}

/** One line without the folders of this machine. */
function plain(message, { workspace, home = workspace }) {
  return message.replaceAll(workspace, "WORKSPACE").replaceAll(home, "HOME").replaceAll(/\s+/g, " ").trim().slice(0, 200);
}
