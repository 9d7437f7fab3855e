/** The built command, in which the packages run on our streams and our HTTP client. */
import { expect, test } from "vitest";
import { run, scratch } from "../process/harness.js";
import { modelServer, type Reply } from "../support/model-server.js";

const SCRIPT: Reply[] = [
  { thinking: ["Let me ", "see."], signature: "proof-1", calls: [{ name: "Read", args: { file_path: "note.txt" } }] },
  { text: ["It says: ", "the sea."] },
];

test.each(["xai", "openrouter", "local", "openai-responses"] as const)("%s: a tool and an answer", async (wire) => {
  const server = await modelServer(wire, SCRIPT);
  const provider = wire === "openai-responses" ? "openai" : wire;
  const home = scratch({ "config.yaml": "providers: { openai: { api: responses } }" });
  const flags = ["--provider", provider, "--base-url", server.url, "--api-key", server.key, "--thinking", "low"];
  const { code, stdout, stderr } = await run(["-p", "read it", ...flags], {
    cwd: scratch({ "note.txt": "the sea\n" }),
    env: { PARLEY_HOME: home },
  });
  expect({ stderr, code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("It says: the sea.") });
  expect(server.requests).toHaveLength(2);
});
