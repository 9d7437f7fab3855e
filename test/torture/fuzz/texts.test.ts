/**
 * Texts that are nearly right, for every reader of text that somebody else may have written: it says what is wrong with the text or takes
 * it, and never fails in another way.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { breaches } from "../../../src/check/tape/breaches.js";
import { readTape } from "../../../src/check/tape/tape.js";
import { transcript } from "../../../src/check/tape/transcript.js";
import { ParleyError } from "../../../src/core/errors.js";
import { parseProfile } from "../../../src/bridge/profile/file.js";
import { readFrontMatter } from "../../../src/engine/extensions/front-matter.js";
import { compileRules } from "../../../src/engine/permissions/rules.js";
import { analyseShell } from "../../../src/engine/permissions/shell/shell.js";
import { FrameReader } from "../../../src/os/lines.js";
import { parseConfig } from "../../../src/settings/config-parse.js";
import { scratch } from "../../support/processes.js";
import { diceOf, isLong, report, SEED } from "../volume.js";
import { filesBelow } from "./corpus.js";
import { mutatedText } from "./mutate.js";

interface Reader {
  corpus: readonly string[];
  /** Texts in the short run and in the long one. */
  texts: readonly [short: number, long: number];
  read(text: string): unknown;
}

const WIRE_LINES = filesBelow("src/dialects", /vectors\/ok\/.*\.jsonl$/);
const COMMANDS = [
  "git status && npm test -- --run src/a.test.ts",
  'for f in *.ts; do wc -l "$f" | sort -n > /tmp/out 2>&1; done',
  "cat <<'EOF' | sed -e 's/a/b/' \nline $x\nEOF",
  "x=$(curl -s 'http://a/b?c=d' | jq '.[0].name') || exit 1",
  "find . -name '*.js' -exec rm -f {} + ; sudo -u root env A=1 bash -c \"echo $'\\x41' ${HOME:-/}\"",
  "if [[ $a =~ ^x(.*)$ && -f y ]]; then case $b in a|b) echo;; *) ;; esac; fi &",
  'function f { local y=$((1 + 2)); eval "$y"; }; f <(ls) >&2',
  "python3 -c 'import os; os.system(\"ls\")'; ssh host 'rm -rf /'; xargs -I{} sh -c '{}'",
];
const RULES = [
  "Bash(git *)",
  "Read(src/**)",
  "Edit(~/.ssh/*)",
  "WebFetch(https://*.example.org/*)",
  "mcp__files__*",
  "exec(npm run *)",
  "Write(/etc/[!a-z]*)",
];

const READERS: Record<string, Reader> = {
  "lines of a wire, cut anywhere": {
    corpus: WIRE_LINES,
    texts: [300, 300_000],
    read(text) {
      const bytes = Buffer.from(text.slice(0, 20_000));
      const [whole, cut] = [new FrameReader("json", 4096), new FrameReader("json", 4096)];
      const frames = [...whole.push(bytes), ...whole.end()];
      const size = 1 + (text.length % 7);
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
      expect([...pieces.flatMap((piece) => cut.push(piece)), ...cut.end()]).toEqual(frames);
    },
  },
  "config files": {
    corpus: filesBelow("docs", /configuration\.md$/).flatMap((page) =>
      [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, yaml = ""]) => yaml),
    ),
    texts: [300, 100_000],
    read: (text) => parseConfig("/home/config.yaml", text, text.length % 2 === 0 ? "user" : "workspace"),
  },
  profiles: {
    corpus: filesBelow("src/bridge/profiles", /\.yaml$/),
    texts: [300, 100_000],
    read: (text) => parseProfile(text, { path: "/p.yaml", id: "p", dir: "/" }),
  },
  "front matter": {
    corpus: [
      "---\nname: a\ndescription: What it does\nallowed-tools: [Read, Bash(git *)]\nmodel: inherit\n---\nBody $ARGUMENTS\n",
      "no front matter",
      "---\n---\n",
    ],
    texts: [300, 200_000],
    read: (text) => readFrontMatter("/SKILL.md", text),
  },
  "shell commands": {
    corpus: COMMANDS,
    texts: [500, 400_000],
    async read(text) {
      const analysis = await analyseShell(text);
      expect(["object"]).toContain(typeof analysis);
    },
  },
  rules: {
    corpus: RULES,
    texts: [500, 400_000],
    async read(text) {
      const rules = await compileRules([{ deny: text }]);
      await rules.judge({ tool: "Bash", category: "exec", args: { command: text }, paths: [] });
    },
  },
};

describe.each(Object.entries(READERS))("%s", (name, { corpus, texts: [short, long], read }) => {
  test("are taken or refused in words", async () => {
    expect(corpus.length).toBeGreaterThan(0);
    const count = isLong ? long : short;
    let taken = 0;
    for (let nth = 0; nth < count; nth++) {
      const text = mutatedText(corpus, diceOf(SEED * 10_000_000 + nth));
      if (await isTaken(text, () => read(text))) taken++;
    }
    expect(taken).toBeGreaterThan(0);
    report("fuzzed texts", { [name]: count });
  });
});

test("tapes are taken or refused in words", async () => {
  const file = join(scratch(), "tape.jsonl");
  const count = isLong ? 30_000 : 150;
  let taken = 0;
  for (let nth = 0; nth < count; nth++) {
    const text = mutatedText([TAPE], diceOf(SEED * 10_000_000 + nth));
    const read = async (): Promise<void> => {
      writeFileSync(file, text);
      const tape = await readTape(file);
      expect(typeof transcript(tape)).toBe("string");
      await breaches(tape);
    };
    if (await isTaken(text, read)) taken++;
  }
  expect(taken).toBeGreaterThan(0);
  report("fuzzed texts", { tapes: count });
});

/** A tape of one turn over the native wire. */
const TAPE = [
  { at: 1, start: { format: 2, version: "0.1.0", side: "host", dialect: "native" } },
  { at: 1, dir: "out", rec: { type: "session.open", id: "o", session: "s", open: "new" } },
  { at: 1, op: { type: "session.open", id: "o", session: "s", open: "new" } },
  { at: 2, dir: "in", rec: { type: "session.ready", session: "s", parent: "o" } },
  { at: 2, event: { type: "session.ready", session: "s", parent: "o" } },
  { at: 3, event: { type: "turn.started", session: "s", turn: "t" } },
  { at: 4, event: { type: "text.delta", session: "s", turn: "t", text: "hi" } },
  { at: 5, event: { type: "text.done", session: "s", turn: "t", text: "hi", streamed: true } },
  { at: 6, event: { type: "turn.ended", session: "s", turn: "t", outcome: "completed" } },
  { at: 7, dir: "in", end: true },
]
  .map((line) => JSON.stringify(line))
  .join("\n");

/** Returns false for a refusal in words; any other failure is a defect. */
async function isTaken(text: string, read: () => unknown): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof ParleyError && error.message !== "") return false;
    return expect.fail(`${error instanceof Error ? error.stack : String(error)}\nafter ${JSON.stringify(text)}`);
  }
}
