/** acpx, a client of ACP for the command line, with `parley acp` as its agent. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, given, isThere, play } from "./play.mjs";

const ACPX = join("node_modules", ".bin", "acpx");
/** Seconds for which it keeps an agent that has nothing to do. */
const KEPT = "1";

await play({
  async text() {
    await acpx("--approve-all", "sessions", "new").ended;
    const { said } = await acpx("prompt", `#say the word is ${given.secret}`).ended;
    expect(said.includes("hello"), `it said ${said}`);
  },
  async thinking() {
    const { said } = await acpx("prompt", "#think").ended;
    expect(said.includes("[thinking]") && said.includes("birds"), `it said ${said}`);
  },
  async "tool allowed"() {
    const { said } = await acpx("--approve-all", "prompt", "#run {{touch allow.txt}}").ended;
    expect(said.includes("has answered") && isThere("allow.txt"), `it said ${said}`);
  },
  async "tool denied"() {
    const { said } = await acpx("--deny-all", "prompt", "#run {{touch deny.txt}}").ended;
    expect(!isThere("deny.txt"), `it said ${said}`);
  },
  async interrupted() {
    const turn = acpx("prompt", "#slow");
    await turn.says("Slowly");
    await acpx("cancel").ended;
    const { said } = await turn.ended;
    expect(said.includes("[done] cancelled"), `it said ${said.slice(-200)}`);
    const more = await acpx("prompt", "#say more").ended;
    expect(more.said.includes("hello"), `and then it said ${more.said}`);
  },
  async resumed() {
    await agentIsGone();
    const { said } = await acpx("prompt", "#recall").ended;
    expect(said.includes("session/resume") && said.includes(given.secret), `it said ${said}`);
  },
  async killed() {
    const turn = acpx("prompt", "#slow");
    await turn.says("Slowly");
    process.kill(await agentId(), "SIGKILL");
    const { code, said } = await turn.ended;
    expect(code !== 0 && said.includes("disconnected"), `it left with ${code}: ${said.slice(-200)}`);
  },
});

function acpx(...words) {
  const command = given.acp.map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ");
  const child = spawn(process.execPath, [ACPX, "--cwd", given.workspace, "--ttl", KEPT, "--agent", command, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  const ended = new Promise((resolve) => child.once("close", (code) => resolve({ code, said })));
  return {
    ended,
    async says(word) {
      while (!said.includes(word)) await new Promise((resolve) => setTimeout(resolve, 50));
    },
  };
}

async function agentId() {
  const { said } = await acpx("sessions", "show").ended;
  return Number(/^pid: (\d+)$/m.exec(said)?.[1]);
}

async function agentIsGone() {
  const pid = await agentId();
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
