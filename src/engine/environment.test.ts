import { expect, test } from "vitest";
import { fillVariables, secretValues, serverSecrets, toolEnvironment } from "./environment.js";

const SECRET_NAMES = [
  "ANTHROPIC_API_KEY",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "GITHUB_TOKEN",
  "NPM_CONFIG__AUTH",
  "npm_config__auth",
  "PGPASSWORD",
  "MYSQL_PASSWD",
  "DB_PASS",
  "SECRET",
  "TOKEN",
  "OPENAI_APIKEY",
  "CREDENTIAL_FILE",
  "PASSWORD_STORE_KEYS",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
];
const PLAIN_NAMES = [
  "PATH",
  "SSH_AUTH_SOCK",
  "HOME",
  "LANG",
  "KEYBOARD_LAYOUT",
  "TOKENIZERS_PARALLELISM",
  "XAUTHORITY",
  "AUTHOR",
  "SSH_ASKPASS",
];

test.each(SECRET_NAMES)("%s is kept from tools and told to the redactor", (name) => {
  expect(toolEnvironment({ [name]: "s3cr3t-value", HOME: "/h" }, [])).toEqual({ HOME: "/h" });
  expect(secretValues({ [name]: "s3cr3t-value" })).toEqual(["s3cr3t-value"]);
});

test.each(PLAIN_NAMES)("%s stays", (name) => {
  expect(toolEnvironment({ [name]: "some-value" }, [])).toEqual({ [name]: "some-value" });
  expect(secretValues({ [name]: "some-value" })).toEqual([]);
});

test("a variable whose value holds a known secret goes, whatever its name", () => {
  const env = { REMOTE_URL: "https://u:hunter2hunter2@host/", PATH: "/hunter2hunter2/bin", EMPTY: "", GONE: undefined };
  expect(toolEnvironment(env, ["hunter2hunter2", ""])).toEqual({ PATH: "/hunter2hunter2/bin", EMPTY: "" });
});

test.each([
  ["short", []],
  ["12345678", []],
  ["12345.678", []],
  ["true", []],
  ["/run/secrets/api", []],
  ["/credentials.json", []],
  ["~/keys/id_rsa", []],
  ["./keys/id_rsa", []],
  ["C:\\keys\\id_rsa", []],
  ["12345678", []],
  ["sk-ant-0123456789", ["sk-ant-0123456789"]],
  ["/Qx8+abcdEFGHijklMNOPqrstUVWXyz0123456/AB", ["/Qx8+abcdEFGHijklMNOPqrstUVWXyz0123456/AB"]],
  ["/Qx8abcdEFGHijklMNOPqrstUVWXyz0123456789", ["/Qx8abcdEFGHijklMNOPqrstUVWXyz0123456789"]],
])("as a secret's value %j tells %j", (value, told) => {
  expect(secretValues({ API_KEY: value })).toEqual(told);
});

test("a value is told once", () => {
  expect(secretValues({ A_KEY: "same-value", B_KEY: "same-value" })).toEqual(["same-value"]);
});

test("what servers are given is secret, variables filled in, and of a header what stands behind its scheme", () => {
  const servers = {
    near: {
      command: "x",
      env: {
        A: "literal-1",
        B: "${OUTSIDE}",
        NODE_ENV: "production",
        MY_TOKEN: "just-words",
        MISSING: "${NOBODY}",
        HOME: "/home/somebody",
        PORT: "12345678",
        C: "[redacted]",
      },
    },
    far: { url: "https://x/${OUTSIDE}", headers: { Authorization: "Bearer token-three" } },
  };
  expect(serverSecrets(servers, { OUTSIDE: "value-number-2" })).toEqual([
    "literal-1",
    "value-number-2",
    "just-words",
    "Bearer token-three",
    "token-three",
  ]);
});

test("of a server's arguments and address, what is called a secret there", () => {
  const near = [
    "serve",
    "--api-key=literal-1",
    "--token",
    "${OUTSIDE}",
    "--no-auth",
    "ordinary-text",
    "--key",
    "--verbose",
    "--name=ordinary-2",
  ];
  const servers = { near: { command: "x", args: near }, far: { url: "https://me:password-4@x/mcp?key=literal-5&kind=ordinary-3" } };
  expect(serverSecrets(servers, { OUTSIDE: "value-number-2" })).toEqual(["literal-1", "value-number-2", "password-4", "literal-5"]);
});

test("only a name in braces is a variable", () => {
  expect(fillVariables("${A}-$A-${A b}-${}-${A}", (name) => name.toLowerCase())).toBe("a-$A-${A b}-${}-a");
});

test("what a collector of traces is sent is secret header by header, with and without its escapes", () => {
  const values = secretValues({ OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc-123-def-456, x-team=blue-whale-team" });
  expect(values).toEqual(expect.arrayContaining(["Bearer%20abc-123-def-456", "Bearer abc-123-def-456", "abc-123-def-456"]));
  expect(values).not.toContain("blue-whale-team");
});
