import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Rule } from "../../src/core/config.js";
import { compileRules, type Verdict } from "../../src/engine/permissions/rules.js";
import { MAX_COMMANDS, MAX_STEPS } from "../../src/engine/permissions/shell/limits.js";
import { analyseShell, shellWords } from "../../src/engine/permissions/shell/shell.js";
import { COVERED, NAMED, NOT_COVERED } from "./shell-allow-cases.js";
import { LEFT_ALONE, SEEN_THROUGH, SUBCOMMANDS, TOO_MUCH, type Case } from "./shell-cases.js";

async function judge(rules: readonly string[], command: string): Promise<Verdict> {
  const compiled = await compileRules(rules.map((text) => rule(text)));
  return compiled.judge({ tool: "Bash", category: "exec", args: { command }, paths: [] });
}

function rule(text: string): Rule {
  const body = text.slice(1);
  if (text.startsWith("-")) return { deny: body };
  return text.startsWith("?") ? { ask: body } : { allow: body };
}

/** A rule for every word that may be a program, except for the one that is run unseen. */
function programs(command: string): string[] {
  const words = command.split(/[\s;]+/).filter((word) => /^[a-z][a-z0-9]*$/.test(word) && word !== "id");
  return [...new Set(words)].map((word) => `+Bash(${word}:*)`);
}

describe("what runs or writes something on the side is not covered by a rule for its program", () => {
  test.each(NOT_COVERED)("%j", async (command) => {
    expect(await judge(programs(command), command)).toMatchObject({ decision: "none", why: expect.stringMatching(/\w/) });
    expect(await judge([...programs(command), "+Bash(**)"], command)).toMatchObject({ decision: "none" });
    expect(await judge([...programs(command), "+Bash"], command)).toMatchObject({ decision: "allow" });
  });

  test.each(COVERED)("plain work is: %j", async (command) => {
    expect(await judge(programs(command), command)).toMatchObject({ decision: "allow" });
  });
});

const TABLES: readonly (readonly [title: string, cases: readonly Case[]])[] = [
  ["a rule that has the words in its own text covers them", NAMED],
  ["deny rules see through what the words show", SEEN_THROUGH],
  ["deny rules leave alone what they are not about", LEFT_ALONE],
  ["options in front of a subcommand do not hide it", SUBCOMMANDS],
];

describe.each(TABLES)("%s", (_, cases) => {
  test.each(cases)("%j with %j: %s", async (command, rules, decision) => {
    expect(await judge(rules, command)).toMatchObject({ decision });
    expect(await judge(rules.toReversed(), command)).toMatchObject({ decision });
  });
});

describe("a command that is too much to read is asked about", () => {
  test.each(TOO_MUCH)("%s", async (_, command) => {
    for (const effect of ["-", "?"]) {
      const verdict = await judge([`${effect}Bash(rm *)`, "+Bash"], command);
      expect(verdict).toMatchObject({ decision: "ask", why: expect.stringContaining("could not be parsed") });
    }
    expect(await judge(["+Bash(npx:*)", "+Bash(a:*)", "+Bash(echo:*)"], command)).toMatchObject({ decision: "none" });
    const { steps, commands } = await analyseShell(command);
    expect(steps).toBeLessThanOrEqual(MAX_STEPS + 1);
    expect(commands.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(MAX_STEPS);
  });

  test("a deny rule that matches what was found still denies", async () => {
    expect(await judge(["-Bash(rm *)", "+Bash"], `rm x; ${"ssh h ".repeat(6000)}`)).toMatchObject({ decision: "deny" });
  });

  test("a long file in a here-document is not too much", async () => {
    const line = '  { "name": "value", "list": [1, 2, 3], "text": "a $(b) `c` ${d}" },\n';
    expect(await analyseShell(`cat > a.json <<'E'\n${line.repeat(100)}E\n`)).toMatchObject({ parsed: true });
    expect(await analyseShell(`cat > a.txt <<'E'\n${"plain text, line by line\n".repeat(2000)}E\n`)).toMatchObject({ parsed: true });
  });
});

const piece = fc.constantFrom(
  ..."npx |ssh h |docker run |sqlite3 |cargo |rustc|.sh |make |X=$(shell |sudo |env |env -S |xargs |find . -exec |eval |bash -c |watch |su |git |git -C |-x |--y=z |sort -o |sed -e |awk |a |'a b' |\"$x\" |$x |{a,b} |$(|)|`|\"|'|${x:-|}|((|))|$[|]|<<E |\n|;|&&|[[ |]]|{ |( |<(|f() |x=|PAGER=|case a in |if |<<< |> |\\|$'\\x{65}'|s/[]/]/e |[[:a:]".split(
    "|",
  ),
);

test("no line takes more work than the limits, nor throws", async () => {
  const repeated = fc.tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 4000 }));
  const line = fc.array(repeated, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(line, async (parts) => {
      const command = parts
        .map(([pieces, times]) => pieces.join("").repeat(times))
        .join("")
        .slice(0, 12_000);
      const analysis = await analyseShell(command);
      expect(analysis.steps).toBeLessThanOrEqual(MAX_STEPS + 1);
      expect(analysis.commands.length).toBeLessThanOrEqual(MAX_COMMANDS);
      expect(analysis.commands.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(MAX_STEPS);
      expect(analysis.parsed || analysis.why !== "").toBe(true);
      const { decision } = await judge(["-Bash(git push *)", "?Bash(a b *)", "+Bash(a:*)"], command);
      expect(["deny", "ask", "allow", "none"]).toContain(decision);
    }),
    { numRuns: 150 },
  );
});

/** Each is 60,000 characters that a pattern of the table might read again from every place. */
test.each([
  `sqlite3 a '${"\n".repeat(60_000)}'`,
  `cargo ${"rustc".repeat(12_000)}`,
  `npx ${"sort -o a ".repeat(6000)}`,
  "ssh h ".repeat(6700),
])("%.12j and so on is judged", async (command) => {
  expect(await judge(["-Bash(evil *)", "+Bash"], command)).toMatchObject({ decision: expect.stringMatching(/^(?:allow|ask)$/) });
});

test("nothing on the side slips in behind a covered command", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...COVERED),
      fc.constantFrom(...NOT_COVERED),
      fc.constantFrom("; ", " && ", " | ", "\n"),
      async (good, bad, by) => {
        expect(await judge([...programs(good), ...programs(bad)], `${good}${by}${bad}`)).toMatchObject({ decision: "none" });
      },
    ),
  );
});

test.each<[string, string[]]>([
  ["cat a 'b c' > d 2>> e < f", ["cat", "a", "b c", "d", "e", "f"]],
  ["for x in a b; do c; done; case d in e) f;; esac", ["a", "b", "c", "d", "e", "f"]],
  ["A=b sudo env C=d bash -c 'e f > g'", ["b", "sudo", "env", "C=d", "bash", "-c", "e f > g", "e", "f", "g"]],
  ["echo $(a `b` <(c)) <<< d", ["a", "b", "c", "d"]],
  ["a .env; $b c", ["a", ".env", "$b", "c"]],
  ["[[ -f a ]] && x=(b c)", ["a", "b", "c"]],
])("all words of %j are known", async (command, words) => {
  expect(shellWords(await analyseShell(command))).toEqual(expect.arrayContaining(words));
});
