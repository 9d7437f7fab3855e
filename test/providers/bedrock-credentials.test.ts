/** With what a request to Bedrock is signed, and where: every source that AWS has for it, and what is said when there is none. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openModel } from "../../src/engine/models/open.js";
import { ACCESS_KEY_ID, REGION } from "../support/aws-signature.js";
import { credentialProcess, envKeys, httpServer, inFiles, type Profiles } from "../support/aws-sources.js";
import { modelServer, type ModelServer } from "../support/model-server.js";
import { scratch, until } from "../support/processes.js";
import { awsEnv, Talk, VENDORS } from "./harness.js";

const { bedrockClaude } = VENDORS;
const KEYS = { aws_access_key_id: ACCESS_KEY_ID };

describe("credentials", () => {
  test("a session token is sent and signed", async () => {
    const { server, host } = await talkWith(({ key }) => ({ ...envKeys(key), AWS_SESSION_TOKEN: "session-token-0123456789" }));
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(server.requests).toMatchObject([{ headers: { "x-amz-security-token": "session-token-0123456789" } }]);
    expect(JSON.stringify(host.events)).not.toContain("session-token");
  });

  test("what this process has in its own environment does not count", async () => {
    const stray = {
      AWS_BEARER_TOKEN_BEDROCK: "stray-0123456789",
      AWS_SESSION_TOKEN: "stray-0123456789",
      AWS_REGION: "us-west-2",
      AWS_ENDPOINT_URL: "http://127.0.0.1:9",
      AWS_ACCESS_KEY_ID: "AKIASTRAY",
      AWS_SECRET_ACCESS_KEY: "stray-0123456789",
    };
    for (const [name, value] of Object.entries(stray)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { server, host } = await talkWith(({ key }) => envKeys(key));
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(JSON.stringify(server.requests)).not.toContain("stray");
    const profile = await talkWith(({ key }) => inFiles({ default: { ...KEYS, aws_secret_access_key: key } }));
    expect(await profile.host.turn("hi")).toMatchObject({ outcome: "completed" });
  });

  test("a key for Bedrock comes before all others", async () => {
    const { server, host } = await talkWith(({ key }) => ({ ...envKeys("wrong-0123456789"), AWS_BEARER_TOKEN_BEDROCK: key }));
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(server.requests).toMatchObject([{ headers: { authorization: `Bearer ${server.key}` } }]);
  });

  test("a refused key names where it came from", async () => {
    const { host } = await talkWith(() => ({ AWS_BEARER_TOKEN_BEDROCK: "wrong-0123456789" }));
    expect((await host.turn("hi")).reason).toBe("bedrock answered 403: invalid key [redacted] (check AWS_BEARER_TOKEN_BEDROCK)");
  });

  test("a wrong secret key makes a signature that does not hold", async () => {
    const { host } = await talkWith(() => envKeys("wrong-0123456789"));
    const end = await host.turn("hi");
    expect(end.fault).toMatchObject({ code: "provider", status: 403, retryable: false });
    expect(end.reason).toMatch(/does not match the signature you provided\. \(check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\)$/);
  });

  test("a profile in the shared files; its secret is not told", async () => {
    const { server, host } = await talkWith(
      ({ key }) => ({
        ...inFiles({ work: { ...KEYS, aws_secret_access_key: key, aws_session_token: "from-the-file-0123" } }),
        AWS_PROFILE: "work",
      }),
      [{ text: ["ok"] }, { error: { status: 403, message: "Wrong: sk-test-bedrock-claude-0123456789 from-the-file-0123" } }],
    );
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(server.requests).toMatchObject([{ headers: { "x-amz-security-token": "from-the-file-0123" } }]);
    expect((await host.turn("again")).reason).toBe("bedrock answered 403: Wrong: [redacted] [redacted] (check the AWS profile 'work')");
  });

  test.each([
    { state: "last", minutes: 60, runs: 1 },
    { state: "are about to expire", minutes: 4, runs: 2 },
  ])("credentials of a process that $state: it ran $runs times for two requests", async ({ minutes, runs }) => {
    const folder = scratch();
    const { host, server } = await talkWith(
      ({ key }) => ({ AWS_CONFIG_FILE: credentialProcess(folder, key, minutes) }),
      [{ text: ["ok"] }, { text: ["ok"] }],
    );
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(server.requests).toMatchObject([{ headers: { "x-amz-security-token": "made-0123456789" } }, {}]);
    await until(() => readFileSync(join(folder, "runs"), "utf8").length === runs, `${runs} runs`);
  });

  test("a process that fails: the turn fails with the chain's words, and another try makes no sense", async () => {
    // This process's own environment tells the chain not to ask the machine.
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    onTestFinished(() => void vi.unstubAllEnvs());
    const failing = { credential_process: `${process.execPath} --no-such-flag` };
    const { server, host } = await talkWith(() => ({ ...inFiles({ work: failing }), AWS_PROFILE: "work" }));
    const end = await host.turn("hi");
    expect(end.fault).toMatchObject({ code: "config", retryable: false });
    expect(end.reason).toMatch(
      /^There are no AWS credentials: Command failed: .*--no-such-flag \(check the AWS profile 'work'; else set AWS_ACCESS_KEY_ID/,
    );
    expect(server.requests).toEqual([]);
    expect(host.of("notice")).toEqual([]);
  });

  test("an interrupt does not wait for credentials", async () => {
    let hear = (): void => {};
    const asked = new Promise<void>((resolve) => {
      hear = resolve;
    });
    // It hears the question and never answers.
    const url = await httpServer(() => hear());
    vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { server, host } = await talkWith(() => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url }));
    host.prompt("hi");
    await asked;
    void host.agent.send({ type: "turn.interrupt", session: "s" });
    expect(await host.ended()).toMatchObject({ outcome: "interrupted" });
    expect(server.requests).toEqual([]);
  });

  test("a profile that is not there is told at once", async () => {
    const opened = openModel({ provider: "bedrock" }, undefined, source(awsEnv("http://127.0.0.1:9", { AWS_PROFILE: "nobody" })));
    await expect(opened).rejects.toMatchObject({
      fault: { code: "config", message: expect.stringMatching(/^There is no AWS profile 'nobody' in .*config or .*credentials/) },
    });
  });

  test("none at all: told at once, with what may be set", async () => {
    const opened = openModel({ provider: "bedrock" }, undefined, source(awsEnv("http://127.0.0.1:9", {})));
    await expect(opened).rejects.toMatchObject({
      fault: {
        code: "config",
        message:
          "There are no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or AWS_BEARER_TOKEN_BEDROCK",
      },
    });
  });
});

describe("the region", () => {
  const keys = envKeys("secret-0123456789");

  test.each<[from: string, env: Record<string, string>, profiles: Profiles]>([
    ["AWS_DEFAULT_REGION", { AWS_DEFAULT_REGION: REGION }, {}],
    ["the profile", {}, { default: { region: REGION } }],
    ["a named profile", { AWS_PROFILE: "work" }, { default: { region: "x" }, work: { region: `${REGION} # here` } }],
  ])("comes from %s", async (_, env, profiles) => {
    const { host } = await talkWith(({ key }) => ({ ...envKeys(key), ...inFiles(profiles), AWS_REGION: "", ...env }));
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  });

  test("a missing one is named", async () => {
    const opened = openModel({ provider: "bedrock" }, undefined, source({ ...awsEnv("http://127.0.0.1:9", keys), AWS_REGION: "" }));
    await expect(opened).rejects.toMatchObject({ fault: { code: "config", message: expect.stringMatching(/^AWS_REGION not set/) } });
  });

  test("what is no region is told before it becomes an address", async () => {
    const opened = openModel({ provider: "bedrock" }, undefined, source({ ...awsEnv("", keys), AWS_REGION: "evil.example/" }));
    await expect(opened).rejects.toThrow("AWS_REGION is 'evil.example/', which is no region");
  });
});

/** A session with Claude on Bedrock, in an environment of its own. */
async function talkWith(
  env: (server: ModelServer) => Record<string, string>,
  script: Parameters<typeof modelServer>[1] = [{ text: ["ok"] }],
): Promise<{ server: ModelServer; host: Talk }> {
  const server = await modelServer(bedrockClaude.wire, script);
  const vendor = { ...bedrockClaude, source: () => ({ env: awsEnv(server.url, env(server)) }) };
  return { server, host: new Talk(vendor, server, {}) };
}

function source(env: Record<string, string>): Parameters<typeof openModel>[2] {
  return { env, providers: {}, chosen: undefined };
}
