/** Bedrock from the outside: the built command, with the bundled packages, against servers on loopback. */
import { expect, test } from "vitest";
import { launchWith } from "../aionrs/host.js";
import { run } from "../process/harness.js";
import { ACCESS_KEY_ID } from "../support/aws-signature.js";
import { containerEndpoint, envKeys, inFiles, instanceMetadata, METADATA } from "../support/aws-sources.js";
import { modelServer } from "../support/model-server.js";
import { awsEnv, VENDORS } from "./harness.js";

test.each([VENDORS.bedrockClaude, VENDORS.bedrockConverse])("$name: a turn with a tool over --json-stream", async (vendor) => {
  const script = [{ text: ["I look."], calls: [{ name: "Bash", args: { command: "echo sea" } }] }, { text: ["Do", "ne."] }];
  const server = await modelServer(vendor.wire, script);
  const env = awsEnv(server.url, envKeys(server.key));
  const host = launchWith(["--provider", "bedrock", "--model", vendor.model, "--auto-approve"], { env });
  await host.next("ready");
  host.message("m1", "hello");
  await host.stream("m1");
  expect(host.of("error")).toEqual([]);
  expect(host.text("m1")).toBe("I look.Done.");
  expect(JSON.stringify(server.requests[1]?.body)).toContain("sea");
  expect(host.lines.join("\n") + host.stderr).not.toContain(server.key);
});

test("exceptions keep their names in the bundle", async () => {
  const broken = { type: "validationException", message: "Too long." };
  for (const vendor of [VENDORS.bedrockClaude, VENDORS.bedrockConverse]) {
    const server = await modelServer(vendor.wire, [{ text: ["Well"], broken }]);
    const env = awsEnv(server.url, envKeys(server.key));
    const { stderr, code } = await run(["-p", "hi", "--provider", "bedrock", "--model", vendor.model], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining("bedrock answered 400: Too long.")]);
  }
});

test("--api-key and --base-url", async () => {
  const server = await modelServer("bedrock-claude", [{ text: ["Hello ", "from afar"] }]);
  const flags = ["--provider", "bedrock", "--base-url", `${server.url}/`, "--api-key", server.key];
  const { code, stdout } = await run(["-p", "hi", ...flags], { env: awsEnv("http://127.0.0.1:9", {}) });
  expect([code, stdout]).toEqual([0, expect.stringContaining("Hello from afar")]);
});

test("credentials out of a profile and out of a container", async () => {
  const server = await modelServer("bedrock-converse", [{ text: ["from a profile"] }, { text: ["from a container"] }]);
  const model = VENDORS.bedrockConverse.model;
  const files = inFiles({ default: { aws_access_key_id: ACCESS_KEY_ID, aws_secret_access_key: server.key } });
  const first = await run(["-p", "hi", "--provider", "bedrock", "--model", model], { env: awsEnv(server.url, files) });
  expect([first.code, first.stdout]).toEqual([0, expect.stringContaining("from a profile")]);
  const url = await containerEndpoint(server.key);
  const variables = { AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN: "container-0123456789" };
  const second = await run(["-p", "hi", "--provider", "bedrock", "--model", model], { env: awsEnv(server.url, variables) });
  expect([second.code, second.stdout]).toEqual([0, expect.stringContaining("from a container")]);
  expect(server.requests[1]?.headers["x-amz-security-token"]).toBe("of-the-role-0123");
  expect(second.stdout + second.stderr).not.toMatch(/of-the-role|container-0123456789/);
});

test("no sign of credentials: the machine itself is asked, at once and again with the first request", async () => {
  const server = await modelServer("bedrock-claude", [{ text: ["from a machine"] }]);
  const { url, asked } = await instanceMetadata(server.key);
  const variables = { AWS_EC2_METADATA_DISABLED: "false", AWS_EC2_METADATA_SERVICE_ENDPOINT: url };
  const { code, stdout } = await run(["-p", "hi", "--provider", "bedrock"], { env: awsEnv(server.url, variables) });
  expect([code, stdout]).toEqual([0, expect.stringContaining("from a machine")]);
  expect(asked.slice(0, 3)).toEqual(["PUT /latest/api/token", `GET ${METADATA}`, `GET ${METADATA}robot`]);
});

test("without credentials, and without a region: config_error and no ready", async () => {
  for (const [env, words] of [
    [awsEnv("http://127.0.0.1:9", {}), /AWS_ACCESS_KEY_ID.*AWS_SECRET_ACCESS_KEY.*AWS_PROFILE/],
    [{ ...awsEnv("http://127.0.0.1:9", {}), AWS_REGION: "" }, /AWS_REGION not set/],
  ] as const) {
    const host = launchWith(["--provider", "bedrock"], { env });
    expect((await host.exited).code).toBe(1);
    expect(host.events).toMatchObject([{ type: "error", error: { code: "config_error", message: expect.stringMatching(words) } }]);
  }
});
