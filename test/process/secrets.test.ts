/** Secrets from outside: what has the shape of one, what connection strings hold, and what a host says beside its settings. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch, start } from "./harness.js";

const MIXED = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
const TOKEN = `ghp_${MIXED}`;
const KEY = `sk-ant-api03-${MIXED}${MIXED}-x_AA`;
const JWT = `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${MIXED}`;
const LINES = [`MIIEvQIBADANBgkqhkiG9w0BAQEF${MIXED}`, `AASCBKcwggSjAgEAAoIBAQC7VJTU${MIXED}`];
const PEM = ["-----BEGIN PRIVATE KEY-----", ...LINES, "-----END PRIVATE KEY-----", ""].join("\n");

/** Pieces that give nothing away by themselves. */
const PARTS = [MIXED.slice(0, 12), MIXED.slice(20), ...LINES.map((line) => line.slice(0, 28)), "eyJzdWIi"];

/** All that was written below a folder. */
function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
}

describe("what has the shape of a secret and is in no variable", () => {
  it("is in no event, no log and no audit: said, thought, read, printed, asked for, split over pieces", async () => {
    const home = scratch();
    const audit = join(scratch(), "audit.jsonl");
    const cwd = scratch({ ".env": `TOKEN=${TOKEN}\nKEY=${KEY}\n`, "key.pem": PEM, token: TOKEN });
    const host = start({
      cwd,
      env: { PARLEY_HOME: home },
      args: ["--auto-approve", "--audit", audit],
      responses: [
        {
          think: `so it is ${KEY}`,
          say: {
            pieces: [
              "the token is gh",
              `p_${MIXED.slice(0, 9)}`,
              MIXED.slice(9),
              ", you see: ",
              ...JWT.match(/.{1,7}/g)!,
              " and ",
              ...PEM.match(/[^]{1,9}/g)!,
            ],
          },
          calls: [
            { tool: "Read", args: { file_path: ".env" }, id: "read" },
            { tool: "Read", args: { file_path: "key.pem" }, id: "pem" },
            { tool: "Grep", args: { pattern: "TOKEN", output_mode: "content" }, id: "grep" },
            {
              tool: "Bash",
              args: { command: "cat .env key.pem; head -c 9 token; sleep 0.1; tail -c +10 token" },
              id: "bash",
            },
            { tool: "Bash", args: { command: `echo ${TOKEN}` }, id: "title" },
          ],
        },
        { say: "done" },
      ],
    });
    await host.open();
    host.prompt(`use ${TOKEN}`);
    await host.turnEnded();
    expect(await host.finish()).toBe(0);
    expect(host.text()).toContain(
      "the token is [redacted], you see: [redacted] and -----BEGIN PRIVATE KEY-----\n[redacted]\n[redacted]\n-----END",
    );
    for (const said of [host.lines.join("\n"), everythingIn(home), readFileSync(audit, "utf8")]) {
      expect(said).toContain("[redacted]");
      for (const part of PARTS) expect(said).not.toContain(part);
    }
  });

  it("does not keep a tool from what it was given: the file holds what the model wrote", async () => {
    const cwd = scratch();
    const host = start({
      cwd,
      args: ["--auto-approve"],
      responses: [{ call: { tool: "Bash", args: { command: `printf %s ${TOKEN} > kept.txt` } } }, { say: "done" }],
    });
    await host.open();
    host.prompt("go");
    await host.turnEnded();
    expect(readFileSync(join(cwd, "kept.txt"), "utf8")).toBe(TOKEN);
  });
});

describe("the password of a connection string", () => {
  it("reaches neither tools nor the wire, and the rest of the string is still told", async () => {
    const url = "postgres://shop:s3cr3t-pass@db.example.com/shop";
    const cwd = scratch({ ".env": `DATABASE_URL=${url}\n` });
    const host = start({
      cwd,
      env: { DATABASE_URL: url, DEPLOY_PAT: "walnut-pat-0123", MYSQL_PWD: "walnut-pwd-0123", KEPT: "plain" },
      args: ["--auto-approve"],
      responses: [{ call: { tool: "Bash", args: { command: "cat .env; env; echo pwd=$PWD" }, id: "b" } }, { say: "done" }],
    });
    await host.open();
    host.prompt("go");
    const ended = await host.next("tool.ended");
    const output = JSON.stringify(ended.output);
    expect(output).toContain("postgres://shop:[redacted]@db.example.com/shop");
    expect(output).toContain("KEPT=plain");
    expect(output).toContain(`pwd=${cwd}`);
    await host.turnEnded();
    for (const secret of ["s3cr3t-pass", "walnut-pat", "walnut-pwd", "DEPLOY_PAT", "MYSQL_PWD"])
      expect(host.lines.join("\n")).not.toContain(secret);
  });
});

describe("what is no setting", () => {
  it("in a session's configuration is neither told nor kept, at any depth, nor beside it", async () => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "done" }] });
    const odd = { apikey: "walnut-1", nested: { key: "walnut-2" } };
    const config = {
      ...odd,
      maxTurns: 3,
      hostTools: [{ name: "Lookup", token: "walnut-3", parameters: { type: "object", "x-own": true } }],
      mcpServers: { far: { type: "host", apiKey: "walnut-4" } },
      workspace: { read: "local", secret: "walnut-5" },
    };
    host.sendLine({ type: "session.open", session: "s", open: "new", config, credentials: "walnut-6" });
    const ready = await host.next("session.ready");
    expect(ready.config).toMatchObject({ maxTurns: 3, mcpServers: { far: { type: "host" } }, workspace: { read: "local" } });
    expect(ready.config?.hostTools).toEqual([{ name: "Lookup", parameters: { type: "object", "x-own": true } }]);
    host.sendLine({ type: "session.configure", session: "s", patch: { ...odd, maxTurns: 4 } });
    expect((await host.next("session.updated")).config?.maxTurns).toBe(4);
    host.send({ type: "session.list" });
    await host.next("reply", (event) => event.to === "session.list");
    await host.finish();
    expect(host.lines.join("\n")).not.toContain("walnut");
    expect(everythingIn(home)).not.toContain("walnut");
  });
});

describe("a canary that is planted everywhere", () => {
  it("is in nothing that is written, whichever way a program encodes it", async () => {
    const canary = `cn4ry/${MIXED}+"q`;
    const bytes = Buffer.from(canary);
    const home = scratch();
    const cwd = scratch({ "key.txt": canary, ".env": `ACME_API_KEY='${canary}'\n` });
    const tape = join(scratch(), "tape.jsonl");
    const programs = [
      "cat key.txt .env",
      "base64 -w0 key.txt; printf 'user:%s' \"$(cat key.txt)\" | base64 -w0",
      "od -An -v -tx1 key.txt | tr -d ' \\n'",
      `node -e 'const t=require("fs").readFileSync("key.txt","utf8");console.log(encodeURIComponent(t),JSON.stringify(t),Buffer.from(t).toString("hex").toUpperCase(),Buffer.from(t).toString("base64url"))'`,
      "head -c 20 key.txt; sleep 0.1; tail -c +21 key.txt",
      "env",
    ];
    const host = start({
      cwd,
      env: { PARLEY_HOME: home, ACME_API_KEY: canary },
      args: ["--auto-approve", "--tape", tape],
      responses: [
        {
          think: `it is ${canary}`,
          say: { pieces: [`and ${bytes.toString("base64").slice(0, 9)}`, bytes.toString("base64").slice(9), ` ${bytes.toString("hex")}`] },
          calls: programs.map((command, at) => ({ tool: "Bash", args: { command }, id: `c${at}` })),
        },
        { say: "done" },
      ],
    });
    await host.open();
    host.prompt(`use ${canary}`);
    await host.turnEnded();
    expect(await host.finish()).toBe(0);
    expect(host.ofType("tool.ended").map(({ status }) => status)).toEqual(programs.map(() => "ok"));
    const shapes = [
      canary,
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
      bytes.toString("base64").slice(0, -4),
      bytes.toString("base64url").slice(0, -4),
      Buffer.from(`user:${canary}`).toString("base64").slice(8, -4),
      encodeURIComponent(canary),
      JSON.stringify(canary).slice(1, -1),
      JSON.stringify(JSON.stringify(canary)).slice(3, -3),
    ];
    for (const written of [host.lines.join("\n"), host.stderr, everythingIn(home), readFileSync(tape, "utf8")])
      for (const shape of shapes) expect(written).not.toContain(shape);
  });
});
