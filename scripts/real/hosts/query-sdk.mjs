/** The Claude Agent SDK or the Qwen SDK, with Parley's launcher as its program: both have one function `query`. */
import { conversation, expect, given, isThere, killAgent, play } from "./play.mjs";

const { query } = await import(given.package);

const options = { cwd: given.workspace, ...given.options, env: { ...process.env, ...given.options.env } };
let session;

await play({
  async text() {
    const { said, result } = await ask(`#say the word is ${given.secret}`);
    session = result?.session_id;
    expect(said === "hello", `it said ${JSON.stringify(said)}`);
    expect(result.subtype === "success" && result.usage.input_tokens === 11, `it ended with ${JSON.stringify(result)}`);
  },
  async thinking() {
    const { all } = await ask("#think");
    expect(JSON.stringify(all.filter(({ type }) => type === "assistant")).includes("birds"), "it told no thoughts");
  },
  async "tool allowed"() {
    const { asked } = await ask("#run {{touch allow.txt}}", { behavior: "allow" });
    expect(asked.join() === given.shell, `it asked about ${asked.join() || "nothing"}`);
    expect(isThere("allow.txt"), "the file is not there");
  },
  async "tool denied"() {
    const { asked, result } = await ask("#run {{touch deny.txt}}", { behavior: "deny", message: "not that" });
    expect(asked.join() === given.shell, `it asked about ${asked.join() || "nothing"}`);
    expect(result.permission_denials.length === 1, "its result tells no denial");
    expect(!isThere("deny.txt"), "the file is there");
  },
  async interrupted() {
    const input = conversation("#slow");
    const running = query({ prompt: input.messages(), options: { ...options, includePartialMessages: true } });
    const results = [];
    let isStopped = false;
    for await (const message of running) {
      if (!isStopped && message.type === "stream_event" && message.event.type === "content_block_delta") {
        isStopped = true;
        // It is answered on the stream that is read here.
        void running.interrupt();
      }
      if (message.type !== "result") continue;
      results.push(message);
      if (results.length === 1) input.say("#say more");
      else input.end();
    }
    expect(results[0]?.result !== "hello" && results[0]?.subtype !== "success", `it ended with ${JSON.stringify(results[0])}`);
    expect(results[1]?.result === "hello", `and then it said ${JSON.stringify(results[1])}`);
  },
  async resumed() {
    const { said } = await ask("#recall", undefined, { resume: session });
    expect(said?.includes(given.secret), `it said ${JSON.stringify(said)}`);
  },
  async killed() {
    let failure = "nothing";
    let isKilled = false;
    try {
      for await (const { type } of query({ prompt: "#slow", options: { ...options, includePartialMessages: true } })) {
        if (type !== "stream_event" || isKilled) continue;
        isKilled = true;
        killAgent();
      }
    } catch (error) {
      failure = error.message;
    }
    expect(/SIGKILL|exit|terminated/i.test(failure), `it was told of ${failure}`);
  },
});

async function ask(prompt, answer, more = {}) {
  const [all, asked] = [[], []];
  const canUseTool = async (tool, input) => {
    asked.push(tool);
    return answer.behavior === "allow" ? { ...answer, updatedInput: input } : answer;
  };
  for await (const message of query({ prompt, options: { ...options, ...(answer && { canUseTool }), ...more } })) all.push(message);
  const result = all.find(({ type }) => type === "result");
  return { all, asked, result, said: result?.result };
}
