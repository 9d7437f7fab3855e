import { expect, test } from "vitest";
import { fillVariables, secretValues, serverSecrets, toolEnvironment } from "./secrets.js";

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
  "GH_PAT",
  "AZURE_DEVOPS_EXT_PAT",
  "MYSQL_PWD",
  "DBPWD",
  "DATABASE_URL",
  "TEST_DATABASE_URL",
  "SENTRY_DSN",
  "AZURE_STORAGE_CONNECTION_STRING",
  "DATABASE_URI",
  "PASSWORD1",
  "SECRET2",
  "API_KEY_2",
  "AWS_CREDS",
  "SESSION_COOKIE",
  "SUPABASE_JWT",
  "AUTHORIZATION",
  "SLACK_WEBHOOK_URL",
  "DB_PW",
  "LOGIN_PASSCODE",
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
  "PWD",
  "OLDPWD",
  "INIT_CWD",
  "GITHUB_PATH",
  "FILE_PATTERN",
  "COMPAT",
  "BASE_URL",
  "COOKIECUTTER_DIR",
  "CREDO_LEVEL",
];

test.each(SECRET_NAMES)("%s is kept from tools and told to the redactor", (name) => {
  expect(toolEnvironment({ [name]: "s3cr3t-value", HOME: "/h" }, [])).toEqual({ HOME: "/h" });
  expect(secretValues({ [name]: "s3cr3t-value" })).toEqual(["s3cr3t-value"]);
});

test.each(PLAIN_NAMES)("%s stays", (name) => {
  expect(toolEnvironment({ [name]: "some-value" }, [])).toEqual({ [name]: "some-value" });
  expect(secretValues({ [name]: "some-value" })).toEqual([]);
});

test("a variable that is passed by its name or its beginning stays, and is told to the redactor all the same", () => {
  const env = { GITHUB_TOKEN: "s3cr3t-value", PGPASSWORD: "s3cr3t-other", MY_GITHUB_TOKEN: "s3cr3t-third" };
  expect(toolEnvironment(env, [], ["GITHUB_TOKEN", "PG*"])).toEqual({ GITHUB_TOKEN: "s3cr3t-value", PGPASSWORD: "s3cr3t-other" });
  expect(secretValues(env)).toHaveLength(3);
});

test("a variable whose value holds a known secret goes, whatever its name", () => {
  const env = { REMOTE_URL: "https://u:hunter2hunter2@host/", PATH: "/hunter2hunter2/bin", EMPTY: "", GONE: undefined };
  expect(toolEnvironment(env, ["hunter2hunter2", ""])).toEqual({ PATH: "/hunter2hunter2/bin", EMPTY: "" });
});

test.each([
  ["postgres://app:s3cr3t-pass@db.example.com:5432/shop", ["s3cr3t-pass"]],
  ["postgres://app:s3cr3t%2Fpass@db.example.com/shop", ["s3cr3t%2Fpass", "s3cr3t/pass"]],
  ["postgres://app:s3cr3t/pass?@db.example.com/shop", ["s3cr3t/pass?"]],
  ["mongodb+srv://app:p@ss-w0rd-1@a.example.com:1,b.example.com:2/shop", ["p@ss-w0rd-1"]],
  ["postgres://postgres:postgres@localhost/postgres", [":postgres@"]],
  ["redis://:hunter2@cache:6379/0", [":hunter2@"]],
  ["amqp://me:pw@queue", ["me:pw@"]],
  ["app:s3cr3t-pass@tcp(db:3306)/shop", ["s3cr3t-pass"]],
  ["Server=db;Database=shop;User Id=app;Password=s3cr3t-pass;", ["s3cr3t-pass"]],
  ["host=db dbname=shop password=secret", ["password=secret"]],
  ["DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=QUJDREVGR0hJSg==;EndpointSuffix=x", ["QUJDREVGR0hJSg=="]],
  ["jdbc:postgresql://db/shop?user=app&password=s3cr3t-pass", ["s3cr3t-pass"]],
  ["jdbc:mysql://app:s3cr3t-pass@db/shop", ["s3cr3t-pass"]],
  ["jdbc:oracle:thin:app/s3cr3t-pass@db:1521:shop", ["s3cr3t-pass"]],
  ["redis://cache:6379?password=s3cr3t%2Fpass", ["s3cr3t%2Fpass", "s3cr3t/pass"]],
  ["https://hook.example/x?a=1&token=s3cr3t-pass", ["s3cr3t-pass"]],
  ["https://hook.example/x?sig=abc", ["sig=abc"]],
])("of the connection string %j only the password is secret, whatever the variable's name", (value, told) => {
  for (const name of ["DATABASE_URL", "SHOP_DSN", "BROKER"]) {
    expect(secretValues({ [name]: value })).toEqual(told);
    expect(toolEnvironment({ [name]: value, HOME: "/h" }, [])).toEqual({ HOME: "/h" });
  }
});

test.each([
  "postgres://localhost:5432/shop",
  "postgres://app@db/shop",
  "file:./dev.db",
  "sqlite:///shop.db",
  "host=db dbname=shop",
  "./dev.db",
])("a connection without a password, %j, is no secret", (value) => {
  expect(secretValues({ DATABASE_URL: value, OTHER: value })).toEqual([]);
  if (value !== "./dev.db") expect(toolEnvironment({ DATABASE_URL: value }, [])).toEqual({ DATABASE_URL: value });
});

test.each([
  "https://example.com/a:b@c",
  "https://example.com:8080/?mail=a@b.example",
  "git@github.com:a/b.git",
  "a=b",
  "10:20@30",
  "https://example.com/?page=12345678&tokens=12345678",
])("%j has no password in it", (value) => {
  expect(secretValues({ OTHER: value })).toEqual([]);
});

test("a key in the place of the user is secret in a DSN", () => {
  expect(secretValues({ SENTRY_DSN: "https://0123456789abcdef0123456789abcdef@o1.example/2" })).toEqual([
    "0123456789abcdef0123456789abcdef",
  ]);
});

test("a variable whose value has the shape of a secret is kept from tools; a proxy's stays, and its password is told to the redactor", () => {
  const proxy = { https_proxy: "http://me:s3cr3t-pass@proxy:3128" };
  expect(toolEnvironment({ SOME: "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789", ...proxy }, ["s3cr3t-pass"])).toEqual(proxy);
  expect(secretValues(proxy)).toContain("s3cr3t-pass");
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
  const told = ["literal-1", "value-number-2", "password-4", "literal-5"];
  expect(new Set(serverSecrets(servers, { OUTSIDE: "value-number-2" }))).toEqual(new Set(told));
  const database = { db: { command: "npx", args: ["server-postgres", "postgres://app:s3cr3t-pass@db/shop", "--dsn", "SomeSecretWords"] } };
  expect(serverSecrets(database, {})).toEqual(["s3cr3t-pass", "SomeSecretWords"]);
});

test("only a name in braces is a variable", () => {
  expect(fillVariables("${A}-$A-${A b}-${}-${A}", (name) => name.toLowerCase())).toBe("a-$A-${A b}-${}-a");
});

test("what a collector of traces is sent is secret header by header, with and without its escapes", () => {
  const values = secretValues({ OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc-123-def-456, x-team=blue-whale-team" });
  expect(values).toEqual(expect.arrayContaining(["Bearer%20abc-123-def-456", "Bearer abc-123-def-456", "abc-123-def-456"]));
  expect(values).not.toContain("blue-whale-team");
});
