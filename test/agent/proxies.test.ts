/** Behind a proxy: models, servers of tools, pages and traces go through the one that the environment names. The built command. */
import { createServer } from "node:http";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { listening, OFFICIAL } from "../extensions/mcp-harness.js";
import { run, scratch, script } from "../process/harness.js";
import { collector } from "../support/collector.js";
import { modelServer } from "../support/model-server.js";
import { CERTIFICATE, portOf, proxyServer, tlsBefore } from "../support/proxy-server.js";

const HOME = (): string => scratch({ "config.yaml": "limits: { retries: 0 }" });
const ASK = ["-p", "hi", "--provider", "anthropic"];

/** A model's server under the name models.test, with TLS, which only the proxy finds. */
async function behindProxy(login?: string) {
  const server = await modelServer("anthropic", [{ text: ["Hello."] }, { text: ["Again."] }]);
  const proxy = await proxyServer({ "models.test:443": await tlsBefore(portOf(server.url)) }, login);
  const env = { PARLEY_HOME: HOME(), ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: "https://models.test" };
  return { server, proxy, env, trusted: { ...env, NODE_EXTRA_CA_CERTS: CERTIFICATE } };
}

test.each(["HTTPS_PROXY", "https_proxy"])(
  "a model is asked through %s, and its certificate checked by NODE_EXTRA_CA_CERTS",
  async (name) => {
    const { proxy, trusted } = await behindProxy();
    const { code, stdout, stderr } = await run(ASK, { env: { ...trusted, [name]: proxy.url } });
    expect([stdout.trim(), code], stderr).toEqual(["Hello.", 0]);
    expect(proxy.targets).toEqual(["models.test:443"]);
  },
);

test("a certificate that nobody trusts ends the turn at once, and says so", async () => {
  const { proxy, env, server } = await behindProxy();
  const { code, stderr } = await run(ASK, { env: { ...env, HTTPS_PROXY: proxy.url } });
  expect(stderr).toContain("There was no connection to anthropic: self-signed certificate");
  expect(code).toBe(1);
  expect(server.requests).toHaveLength(0);
});

test("a name and a password for the proxy are sent; without them the turn fails at once, with the remedy", async () => {
  const { proxy, trusted } = await behindProxy("ann:s%cret");
  const url = proxy.url.replace("http://", "http://ann:s%25cret@");
  expect(await run(ASK, { env: { ...trusted, HTTPS_PROXY: url } })).toMatchObject({ code: 0 });
  const { code, stderr } = await run(ASK, { env: { ...trusted, HTTPS_PROXY: proxy.url } });
  expect(stderr).toContain("answered 407 for models.test:443: it wants a name and a password");
  expect(code).toBe(1);
});

test.each(["NO_PROXY", "no_proxy"])("%s names what is reached directly, and this machine always is", async (name) => {
  const { proxy, trusted } = await behindProxy();
  const { code } = await run(ASK, { env: { ...trusted, HTTPS_PROXY: proxy.url, [name]: "x.test,.models.test" } });
  expect(code).toBe(1);
  const near = await modelServer("anthropic", [{ text: ["Near."] }]);
  const env = { ...trusted, HTTP_PROXY: proxy.url, ANTHROPIC_API_KEY: near.key, ANTHROPIC_BASE_URL: near.url };
  expect(await run(ASK, { env })).toMatchObject({ code: 0, stdout: "Near.\n" });
  expect(proxy.targets).toEqual([]);
});

test("a server of tools over HTTP is reached through the proxy", async () => {
  const { port } = await listening(OFFICIAL, ["http"]);
  const proxy = await proxyServer({ "tools.test:80": port });
  const home = scratch({ "config.yaml": "mcpServers: { remote: { type: http, url: 'http://tools.test/mcp' } }" });
  const model = script([
    { call: { tool: "mcp__remote__echo", args: { text: "far" } } },
    { expect: { toolResult: "echo: far" }, say: "heard" },
  ]);
  const args = ["-p", "go", "--provider", "rehearsal", "--model", model, "--yolo"];
  const { stdout, stderr } = await run(args, { env: { PARLEY_HOME: home, HTTP_PROXY: proxy.url } });
  expect(stdout, stderr).toContain("heard");
  expect(new Set(proxy.targets)).toEqual(new Set(["tools.test:80"]));
});

test("a page is fetched through the proxy; a name that can only mean a machine near by is not", async () => {
  const pages = createServer((_request, response) => response.writeHead(200, { "content-type": "text/plain" }).end("the page"));
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  onTestFinished(() => void pages.close());
  const address = pages.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const proxy = await proxyServer({ "pages.test:80": port, "intranet:80": port });
  const fetched = (url: string) => ({ call: { tool: "WebFetch", args: { url } } });
  const model = script([
    fetched("http://pages.test/"),
    { expect: { toolResult: "the page" }, ...fetched("http://intranet/") },
    { say: "done" },
  ]);
  const args = ["-p", "go", "--provider", "rehearsal", "--model", model, "--yolo"];
  const { stdout, stderr } = await run(args, { env: { HTTP_PROXY: proxy.url } });
  expect(stdout, stderr).toContain("done");
  expect(proxy.targets).toEqual(["pages.test:80"]);
});

test("traces go out through the proxy", async () => {
  const traces = await collector();
  const proxy = await proxyServer({ "traces.test:4318": portOf(traces.url) });
  const env = { HTTP_PROXY: proxy.url, OTEL_EXPORTER_OTLP_ENDPOINT: "http://traces.test:4318" };
  const { code } = await run(["-p", "say hi", "--provider", "rehearsal"], { env });
  expect(code).toBe(0);
  expect(traces.spans.length).toBeGreaterThan(0);
  expect(proxy.targets[0]).toBe("traces.test:4318");
});
