/** A secret in a file is masked in what the model sees; the mask never takes the secret's place in the file. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outputText } from "../extensions/mcp-harness.js";
import { type NativeHost, scratch, start } from "./harness.js";

const SECRET = "correct-horse-battery";
const COMPOSE = `services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: ${SECRET}\n    image: postgres:15\n`;
const MASKED = COMPOSE.replace(SECRET, "[redacted]");

function ended(host: NativeHost, id: string): { status: string | undefined; text: string } {
  const found = host.ofType("tool.ended").find(({ call }) => call === id);
  return { status: found?.status, text: found === undefined ? "" : outputText(found) };
}

test("what would put a mask in a secret's place is refused, with a word on how to change the rest", async () => {
  const cwd = scratch({ "docker-compose.yml": COMPOSE });
  const file_path = "docker-compose.yml";
  const edit = (id: string, old_string: string, new_string: string) => ({
    id,
    name: "Edit",
    args: { file_path, old_string, new_string },
  });
  const calls = [
    { id: "read", name: "Read", args: { file_path } },
    { id: "write", name: "Write", args: { file_path, content: MASKED.replace("postgres:15", "postgres:16") } },
    { id: "copy", name: "Write", args: { file_path: "copy.yml", content: MASKED } },
    edit("quoting", "POSTGRES_PASSWORD: [redacted]\n    image: postgres:15", "POSTGRES_PASSWORD: [redacted]\n    image: postgres:16"),
    edit("putting", "image: postgres:15", "image: postgres:15 # [redacted]"),
    edit("beside", "image: postgres:15", "image: postgres:16"),
  ];
  const host = start({ cwd, env: { POSTGRES_PASSWORD: SECRET }, responses: [{ say: "ok" }] });
  await host.open({ mode: "auto_edit" });
  host.send({ type: "turn.prompt", session: "s", parts: [], calls });
  await host.turnEnded();
  expect(ended(host, "read").text).toContain("POSTGRES_PASSWORD: [redacted]");
  for (const id of ["write", "copy", "putting"])
    expect.soft(ended(host, id), id).toMatchObject({ status: "failed", text: expect.stringContaining("stands for a secret") });
  expect(ended(host, "write").text).toContain("Change the other lines alone");
  expect(ended(host, "quoting")).toMatchObject({ status: "failed", text: expect.stringContaining("Quote only text beside it") });
  expect(ended(host, "beside").status).toBe("ok");
  expect(existsSync(join(cwd, "copy.yml"))).toBe(false);
  expect(readFileSync(join(cwd, file_path), "utf8")).toBe(COMPOSE.replace("postgres:15", "postgres:16"));
  expect(host.lines.join("\n")).not.toContain(SECRET);
  expect(await host.finish()).toBe(0);
});

test("a file that holds the words of a mask may be written and edited, as long as they do not become more", async () => {
  const cwd = scratch({ "notes.md": "Secrets are shown as [redacted] here.\n" });
  const host = start({ cwd, env: { POSTGRES_PASSWORD: SECRET }, responses: [{ say: "ok" }] });
  await host.open({ mode: "auto_edit" });
  const write = (id: string, content: string) => ({ id, name: "Write", args: { file_path: "notes.md", content } });
  const calls = [write("again", "Secrets look like [redacted] here.\n"), write("more", "[redacted] and [redacted]\n")];
  host.send({ type: "turn.prompt", session: "s", parts: [], calls });
  await host.turnEnded();
  expect(["again", "more"].map((id) => ended(host, id).status)).toEqual(["ok", "failed"]);
  expect(readFileSync(join(cwd, "notes.md"), "utf8")).toBe("Secrets look like [redacted] here.\n");
  expect(await host.finish()).toBe(0);
});

test("whoever is asked about a change that drops a secret is told so, also where the diff looks as if nothing changed", async () => {
  const cwd = scratch({ ".settings": `first=${SECRET}\nsecond=other-secret-value\n` });
  const env = { POSTGRES_PASSWORD: SECRET, OTHER_PASSWORD: "other-secret-value" };
  const host = start({ cwd, env, responses: [{ say: "ok" }], then: "repeat" });
  await host.open();
  const content = `first=other-secret-value\nsecond=other-secret-value\n`;
  host.send({
    type: "turn.prompt",
    session: "s",
    parts: [],
    calls: [{ id: "w", name: "Write", args: { file_path: ".settings", content } }],
  });
  const [asked] = (await host.next("approval.requested")).calls;
  expect(asked?.preview).toMatchObject([{ type: "diff" }, { type: "text", text: expect.stringContaining("1 secret") }]);
  host.allow("w");
  await host.turnEnded();
  expect(ended(host, "w").text).toContain("1 secret");

  // A call that will be refused has no diff to show.
  writeFileSync(join(cwd, "a"), `key=${SECRET}\n`);
  const refused = { id: "r", name: "Write", args: { file_path: "a", content: "key=[redacted]\n" } };
  host.send({ type: "turn.prompt", session: "s", parts: [], calls: [refused] });
  const [shown] = (await host.next("approval.requested", ({ calls: [call] }) => call?.id === "r")).calls;
  expect(shown?.preview).toMatchObject([{ type: "text", text: expect.stringContaining("stands for a secret") }]);
  host.allow("r");
  await host.turnEnded(2);
  expect(readFileSync(join(cwd, "a"), "utf8")).toBe(`key=${SECRET}\n`);
  expect(await host.finish()).toBe(0);
});
