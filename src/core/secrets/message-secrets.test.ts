import { expect, test } from "vitest";
import { secretsIn } from "./message-secrets.js";

test("a message brings along what its fields call secret, and what it gives servers, as a map or as a list", () => {
  const message = {
    rec: {
      apiKey: "key-1-key-1",
      nested: [{ "auth-token": "token-2-token" }],
      mcpServers: {
        one: { command: "node", args: ["--api-key", "args-3-args"], env: { ANYTHING: "env-4-${WHO}-env" } },
        two: { url: "https://x.example/?access_token=url-5-url-5", headers: [{ name: "Authorization", value: "Bearer head-6-head" }] },
      },
    },
  };
  const secrets = secretsIn(message, { WHO: "me" });
  for (const secret of ["key-1-key-1", "token-2-token", "args-3-args", "env-4-me-env", "url-5-url-5", "head-6-head"])
    expect(secrets).toContain(secret);
});

test("ordinary fields are no secrets", () => {
  const plain = {
    type: "turn.prompt",
    key: "ArrowDown",
    token: "SomeWords",
    text: "my password is at home",
    url: "https://example.com/page",
  };
  expect(secretsIn(plain, {})).toEqual([]);
});
