import fc from "fast-check";
import { expect, test } from "vitest";
import type { Category } from "../../core/event.js";
import { compileRules } from "./rules.js";
import { rule, decide, bash } from "../../../test/support/judge-rules.js";

const quiet = fc.constantFrom("ls", "ls -l", "cat a", "git status", "git log -n 3", "echo hi");
const loud = fc.constantFrom("rm x", "id", "curl a.b", "lsof", "git push", "/tmp/ls", "A=1 ls", "ls > out", "$x", "python -c 1", "catx");
const ALLOWS = ["+Bash(ls:*)", "+Bash(cat *)", "+Bash(git status)", "+Bash(git log *)", "+Bash(echo:*)"];
const WRAPPERS_ALLOWED = ["env", "bash", "sudo", "xargs", "timeout", "eval", "command"].map((name) => `+Bash(${name}:*)`);

type Compose = (a: string, b: string) => string;
const compositions: Compose[] = [
  (a, b) => `${a}; ${b}`,
  (a, b) => `${b}; ${a}`,
  (a, b) => `${a} && ${b}`,
  (a, b) => `${b} || ${a}`,
  (a, b) => `${a} | ${b}`,
  (a, b) => `${b} |& ${a}`,
  (a, b) => `${a} & ${b}`,
  (a, b) => `${a}\n${b}`,
  (a, b) => `${a} $(${b})`,
  (a, b) => `${a} "$(${b})"`,
  (a, b) => `${a} \`${b}\``,
  (a, b) => `${a} <(${b})`,
  (a, b) => `(${b}); ${a}`,
  (a, b) => `{ ${a}; ${b}; }`,
  (a, b) => `if ${a}; then ${b}; fi`,
  (a, b) => `for i in 1; do ${a}; ${b}; done`,
  (a, b) => `${a} <<E\n$(${b})\nE`,
  (a, b) => `${a} \${x:-$(${b})}`,
  (a, b) => `f() { ${b}; }; ${a}`,
  (a, b) => `${a}; bash -c '${b}'`,
  (a, b) => `${a}; eval '${b}'`,
];
const embed: ((command: string) => string)[] = [
  (c) => `sudo ${c}`,
  (c) => `env -i ${c}`,
  (c) => `timeout 5 ${c}`,
  (c) => `nice -n 3 ${c}`,
  (c) => `nohup ${c}`,
  (c) => `command ${c}`,
  (c) => `xargs ${c}`,
  (c) => `! ${c}`,
  (c) => `time ${c}`,
  (c) => `find . -exec ${c} \\;`,
  (c) => `stdbuf -oL ${c}`,
  (c) => `flock f ${c}`,
  (c) => `A=1 ${c}`,
  (c) => `exec ${c}`,
];
/** Line breaks, because what is enclosed may end with a here-document. */
const enclose: ((command: string) => string)[] = [
  (c) => `( ${c}\n)`,
  (c) => `{ ${c}\n}`,
  (c) => `echo $( ${c}\n)`,
  (c) => `echo "$( ${c}\n)"`,
  (c) => `if a; then ${c}\nfi`,
  (c) => `while a; do ${c}\ndone`,
  (c) => `f() { ${c}\n}`,
  (c) => `cat <<E${c.length}\n$( ${c}\n)\nE${c.length}`,
  (c) => `case a in a) ${c}\n;; esac`,
  (c) => `echo "\${x:-$( ${c}\n)}"`,
  (c) => `[[ -n $( ${c}\n) ]]`,
  (c) => `a && ${c}`,
  (c) => `{ ${c}\n} | a`,
  (c) => `x=$( ${c}\n)`,
];

test("an allowed command never carries a command that is not allowed", async () => {
  const rules = await compileRules([...ALLOWS, ...WRAPPERS_ALLOWED].map((text) => rule(text)));
  const layers = fc.array(fc.constantFrom(...enclose), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(quiet, loud, fc.constantFrom(...compositions), layers, async (good, bad, compose, around) => {
      const command = around.reduce((inner, wrap) => wrap(inner), compose(good, bad));
      const verdict = await rules.judge({ tool: "Bash", category: "exec", args: { command }, paths: [] });
      expect(verdict.decision).toBe("none");
    }),
    { numRuns: 1500 },
  );
});

test("a composition of allowed commands is allowed", async () => {
  const rules = await compileRules(ALLOWS.map((text) => rule(text)));
  const joined = fc.constantFrom<Compose>(
    (a, b) => `${a}; ${b}`,
    (a, b) => `${a} | ${b}`,
    (a, b) => `(${a}) && { ${b}; }`,
    (a, b) => `if ${a}; then ${b}; fi`,
  );
  await fc.assert(
    fc.asyncProperty(quiet, quiet, joined, async (a, b, join) => {
      const verdict = await rules.judge({ tool: "Bash", category: "exec", args: { command: join(a, b) }, paths: [] });
      expect(verdict.decision).toBe("allow");
    }),
  );
});

test("no wrapping loses a deny", async () => {
  const rules = await compileRules([{ deny: "Bash(rm -rf *)" }, { deny: "Bash(git push:*)" }, { allow: "Bash" }]);
  const denied = fc.constantFrom("rm -rf x", "rm -fr x", "r'm' -r -f x", "/bin/rm -rf x", "git push", "git push -f", '\\git "push" a');
  const inside = fc.array(fc.constantFrom(...embed), { maxLength: 3 });
  const outside = fc.array(fc.constantFrom(...enclose), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(denied, inside, outside, async (command, inner, outer) => {
      // `!`, `time` and assignments are grammar, not programs: nothing goes before them.
      const wrapped = inner.reduce<string>((text, wrap) => (/^(?:!|time|A=1) /.test(text) ? text : wrap(text)), command);
      const line = outer.reduce<string>((text, wrap) => wrap(text), wrapped);
      const verdict = await rules.judge({ tool: "Bash", category: "exec", args: { command: line }, paths: [] });
      expect(verdict.decision).toBe("deny");
    }),
    { numRuns: 1500 },
  );
});

test("the order of rules changes nothing", async () => {
  const pool = [
    "-Bash(rm *)",
    "?Bash(git push:*)",
    "+Bash",
    "+Bash(ls:*)",
    "-Bash(curl *)",
    "?Bash(rm -i *)",
    "-exec(dd *)",
    "?exec",
    "+exec(git *)",
  ];
  const command = fc.constantFrom("ls", "rm x", "rm -i x", "git push", "git log", "curl a; ls", "dd a", "$x", "ls > a", "rm 'x");
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(pool), command, async (rules, line) => {
      const found = await decide(rules, bash(line));
      expect(await decide(rules.toSorted(), bash(line))).toBe(found);
      const alone = await Promise.all(rules.filter((text) => text.startsWith("-")).map((text) => decide([text], bash(line))));
      if (alone.includes("deny")) expect(found).toBe("deny");
    }),
    { numRuns: 300 },
  );
});

test("judging never throws", async () => {
  const rules = await compileRules(
    ["-Bash(rm *)", "?Read(.env)", "-WebFetch(domain:a.b)", "-mcp(*x*)", ...ALLOWS, "+Read(src/**)"].map((text) => rule(text)),
  );
  const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
  const tool = fc.constantFrom("Bash", "Read", "WebFetch", "mcp__a__b", "Other");
  const category = fc.constantFrom<Category>("info", "edit", "exec", "mcp");
  await fc.assert(
    fc.asyncProperty(tool, category, text, fc.dictionary(fc.string(), fc.jsonValue()), async (name, kind, word, others) => {
      const args = { ...others, command: word, url: word };
      const verdict = await rules.judge({ tool: name, category: kind, args, paths: [{ path: `/${word}`, relative: word }] });
      expect(["deny", "ask", "allow", "none"]).toContain(verdict.decision);
    }),
    { numRuns: 1000 },
  );
});
