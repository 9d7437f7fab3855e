/** The Codex SDK, with Parley's launcher `codex` as its program. Its wire asks nobody: what may run is said before. */
import { join } from "node:path";
import { expect, given, isThere, killAgent, play } from "./play.mjs";

const { Codex } = await import(given.package);

const codex = new Codex({ codexPathOverride: join(given.shims, "codex"), baseUrl: `${given.url}/v1`, apiKey: given.key, env: process.env });
const options = { model: "model", workingDirectory: given.workspace, skipGitRepoCheck: true };
let thread;

await play({
  async text() {
    const started = codex.startThread(options);
    const { finalResponse, usage } = await started.run(`#say the word is ${given.secret}`);
    thread = started.id;
    expect(finalResponse === "hello", `it said ${JSON.stringify(finalResponse)}`);
    expect(usage?.input_tokens === 11, `it used ${JSON.stringify(usage)}`);
  },
  async thinking() {
    const { items } = await codex.startThread(options).run("#think");
    expect(JSON.stringify(items.filter(({ type }) => type === "reasoning")).includes("birds"), "it told no thoughts");
  },
  async "tool allowed"() {
    await command("danger-full-access", "allow.txt", "completed");
    expect(isThere("allow.txt"), "the file is not there");
  },
  async "tool denied"() {
    await command("read-only", "deny.txt", "failed");
    expect(!isThere("deny.txt"), "the file is there");
  },
  async interrupted() {
    const abort = new AbortController();
    const failure = await failed(codex.startThread(options), { signal: abort.signal }, () => abort.abort());
    expect(/abort/i.test(failure), `it was told of ${failure}`);
  },
  async resumed() {
    const { finalResponse } = await codex.resumeThread(thread, options).run("#recall");
    expect(finalResponse.includes(given.secret), `it said ${JSON.stringify(finalResponse)}`);
  },
  async killed() {
    const failure = await failed(codex.startThread(options), {}, killAgent);
    expect(/SIGKILL|exit/i.test(failure), `it was told of ${failure}`);
  },
});

async function command(sandboxMode, file, status) {
  const { items } = await codex.startThread({ ...options, sandboxMode, approvalPolicy: "never" }).run(`#run {{touch ${file}}}`);
  const found = items.find(({ type }) => type === "command_execution");
  expect(found?.status === status, `the call was ${found?.status}`);
}

/** What a turn is told that is ended while it runs. */
async function failed(started, more, end) {
  try {
    const { events } = await started.runStreamed("#slow", more);
    for await (const { type } of events) if (type === "turn.started") setTimeout(() => end(), 1000);
  } catch (error) {
    return error.message;
  }
  return "nothing";
}
