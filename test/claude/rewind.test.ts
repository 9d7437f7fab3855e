/** Files go back to their state before a prompt, as hosts of the Claude Agent SDK ask for it, in the same process and in a later one. */
import { randomUUID, type UUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { expect, test } from "vitest";
import type { Reply } from "../support/model-server.js";
import { heard, host, type Host } from "./sdk.js";

const call = (name: string, args: Record<string, unknown>): Reply => ({ calls: [{ name, args }] });
const done: Reply = { text: ["Done."] };
const options = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, enableFileCheckpointing: true } as const;
const SCRIPT: Reply[] = [
  call("Read", { file_path: "a.txt" }),
  call("Edit", { file_path: "a.txt", old_string: "zero", new_string: "one" }),
  done,
  call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two\ntwo" }),
  call("Bash", { command: "echo by a command >> a.txt" }),
  call("Write", { file_path: "new.txt", content: "new\n" }),
  done,
];

const contents = ({ cwd }: Host): (string | undefined)[] =>
  ["a.txt", "new.txt"].map((name) => (existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : undefined));

/** Says a prompt for each id, one after the other, and then runs `last` while the input is open. */
async function said(sdk: Host, ids: readonly UUID[], last: (running: ReturnType<typeof query>) => Promise<void>, more = {}): Promise<void> {
  let next = (): void => undefined;
  async function* input(): AsyncGenerator<SDKUserMessage> {
    for (const uuid of ids) {
      const turn = new Promise<void>((resolve) => (next = resolve));
      yield {
        type: "user",
        uuid,
        message: { role: "user", content: "go" },
        parent_tool_use_id: null,
      };
      await turn;
    }
  }
  const running = query({ prompt: input(), options: { ...sdk.options, ...more } });
  let left = ids.length;
  await heard(running, async (message) => {
    if (message.type !== "result") return;
    left--;
    if (left === 0) await last(running);
    next();
  });
}

test("a prompt's files go back, a preview changes nothing, and an id that no prompt had is refused", async () => {
  const sdk = await host(SCRIPT, options);
  writeFileSync(join(sdk.cwd, "a.txt"), "zero\n");
  const [first, second] = [randomUUID(), randomUUID()];
  const [a, b] = ["a.txt", "new.txt"].map((name) => join(sdk.cwd, name));
  await said(sdk, [first, second], async (running) => {
    await expect(running.rewindFiles(randomUUID())).rejects.toThrow("No file checkpoint found for this message.");
    expect(await running.rewindFiles("nothing", { dryRun: true })).toEqual({
      canRewind: false,
      error: "No file checkpoint found for this message.",
    });
    const preview = await running.rewindFiles(second, { dryRun: true });
    expect(preview).toMatchObject({ canRewind: true, insertions: 1, deletions: 4 });
    expect(preview.filesChanged?.toSorted()).toEqual([a, b]);
    expect(contents(sdk)).toEqual(["two\ntwo\nby a command\n", "new\n"]);
    expect((await running.rewindFiles(second)).filesChanged?.toSorted()).toEqual([a, b]);
    expect(contents(sdk)).toEqual(["one\n", undefined]);
    expect(await running.rewindFiles(first)).toMatchObject({ canRewind: true, filesChanged: [a] });
    expect(contents(sdk)).toEqual(["zero\n", undefined]);
  });
  expect(contents(sdk)).toEqual(["zero\n", undefined]);
});

test("a process that resumes the session takes back files of an earlier one", async () => {
  const sdk = await host([...SCRIPT, done], options);
  writeFileSync(join(sdk.cwd, "a.txt"), "zero\n");
  const [first, session] = [randomUUID(), randomUUID()];
  await said(sdk, [first, randomUUID()], () => Promise.resolve(), { sessionId: session });
  await said(
    sdk,
    [randomUUID()],
    async (running) => {
      expect(await running.rewindFiles(first)).toMatchObject({ canRewind: true });
    },
    { resume: session },
  );
  expect(contents(sdk)).toEqual(["zero\n", undefined]);
});

test("a rewind while a turn runs is refused with the reason, and the turn goes on", async () => {
  const sdk = await host([call("Bash", { command: "touch a.txt" }), done], { ...options, permissionMode: "default" });
  let refusal: unknown;
  const id = randomUUID();
  let running: ReturnType<typeof query> | undefined;
  const canUseTool = async (
    _tool: string,
    updatedInput: Record<string, unknown>,
  ): Promise<{ behavior: "allow"; updatedInput: typeof updatedInput }> => {
    refusal = await running?.rewindFiles(id).catch((error: unknown) => error);
    return { behavior: "allow", updatedInput };
  };
  running = query({ prompt: "go", options: { ...sdk.options, canUseTool } });
  const { results } = await heard(running);
  expect(String(refusal)).toContain("A turn runs or waits");
  expect(results).toMatchObject([{ subtype: "success", result: "Done." }]);
});
