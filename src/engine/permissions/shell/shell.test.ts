import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { analyseShell } from "./shell.js";

async function texts(command: string): Promise<string[] | string> {
  const analysis = await analyseShell(command);
  return analysis.parsed ? analysis.commands.map(({ text }) => text) : analysis.why;
}

describe("every simple command is listed, dequoted", () => {
  test.each<[string, string[]]>([
    ["", []],
    ["# rm x", []],
    ["ls", ["ls"]],
    ["ls   -l\t'a b'", ["ls -l a b"]],
    ["a; b && c || d | e & f\ng", ["a", "b", "c", "d", "e", "f", "g"]],
    ["(a; { b; })", ["a", "b"]],
    ["if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]],
    ["while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]],
    ["for i in 1 2; do a; done", ["a"]],
    ["case x in (y) a;; z) b;& *) c;; esac", ["a", "b", "c"]],
    ["f() { a; }; function g { b; }", ["a", "b"]],
    ["! a; time b; time -p c; coproc d; coproc N { e; }", ["a", "b", "c", "d", "e"]],
    ["[[ -f a && $(b) ]] && c", ["[[ -f a && $(b) ]]", "b", "c"]],
    ["[ -f a ]", ["[ -f a ]"]],
    ["echo $(a `b` <(c) >(d))", ["echo $(a `b` <(c) >(d))", "a `b` <(c) >(d)", "b", "c", "d"]],
    ["cat <<E\n$(a)\n`b`\nE\nc", ["cat", "a", "b", "c"]],
    ["cat <<'E'\n$(a)\nE", ["cat"]],
    ["r\"m\" x; $'\\x72\\x6d' y; \\rm z; r\\\nm w", ["rm x", "rm y", "rm z", "rm w"]],
    ["A=1 B=2 c d", ["A=1", "B=2", "c d"]],
    ["A=$(b) c[1]=`d`", ["A=$(b)", "c[1]=`d`", "b", "d"]],
    ["a=(1 $(b))", ["a=(1 $(b))", "b"]],
    ["echo ${x:-$(a)} ${y/b/`c`} ${z:1:$(d)}", ["echo ${x:-$(a)} ${y/b/`c`} ${z:1:$(d)}", "a", "c", ":1:$(d)", "d"]],
  ])("%j", async (command, expected) => {
    expect(await texts(command)).toEqual(expected);
  });
});

describe("wrappers are listed with what they run", () => {
  test.each<[string, string[]]>([
    ["bash -c 'rm x; ls'", ["bash -c rm x; ls", "rm x", "ls"]],
    ["/bin/sh -ec 'rm x' _ y", ["/bin/sh -ec rm x _ y", "rm x"]],
    ["bash --norc -o pipefail -xc 'bash -c \"rm x\"'", ['bash --norc -o pipefail -xc bash -c "rm x"', "bash -c rm x", "rm x"]],
    ["bash build.sh now", ["bash build.sh now"]],
    ["env -i A=1 B=2 rm x", ["env -i A=1 B=2 rm x", "rm x"]],
    ["env - rm x", ["env - rm x", "rm x"]],
    ["env -u A --chdir=/ -- rm x", ["env -u A --chdir=/ -- rm x", "rm x"]],
    ["sudo -u root A=1 rm x", ["sudo -u root A=1 rm x", "rm x"]],
    ["sudo -nu root -- rm x", ["sudo -nu root -- rm x", "rm x"]],
    [
      "sudo env nice -n 5 nohup rm x",
      ["sudo env nice -n 5 nohup rm x", "env nice -n 5 nohup rm x", "nice -n 5 nohup rm x", "nohup rm x", "rm x"],
    ],
    ["timeout -k 5 --signal=KILL 10 rm x", ["timeout -k 5 --signal=KILL 10 rm x", "rm x"]],
    ["nice -19 rm x", ["nice -19 rm x", "rm x"]],
    ["stdbuf -oL rm x", ["stdbuf -oL rm x", "rm x"]],
    ["setsid -f rm x; exec -a n rm y; builtin rm z", ["setsid -f rm x", "rm x", "exec -a n rm y", "rm y", "builtin rm z", "rm z"]],
    ["command rm x; command -v rm", ["command rm x", "rm x", "command -v rm"]],
    ["\\time -f %e rm x", ["time -f %e rm x", "rm x"]],
    ["xargs -0 -n1 rm -f", ["xargs -0 -n1 rm -f", "rm -f"]],
    ["xargs -I % rm %/a", ["xargs -I % rm %/a", "rm %/a"]],
    ["watch -n 1 'rm x | ls'", ["watch -n 1 rm x | ls", "rm x", "ls"]],
    ["watch -x rm x", ["watch -x rm x", "rm x"]],
    ["find . -name a -exec rm {} + -o -ok mv {} b \\;", ["find . -name a -exec rm {} + -o -ok mv {} b ;", "rm {}", "mv {} b"]],
    ["trap 'rm x' EXIT; trap - INT; trap '' TERM", ["trap rm x EXIT", "rm x", "trap - INT", "trap  TERM"]],
    ["eval rm x '; ls'", ["eval rm x ; ls", "rm x", "ls"]],
    ["eval -- rm x", ["eval -- rm x", "rm x"]],
    ["bash -oo posix errexit -c 'rm x'", ["bash -oo posix errexit -c rm x", "rm x"]],
    ["linux64 rm", ["linux64 rm", "rm"]],
    ["fish build.fish", ["fish build.fish"]],
    ["alias l='rm x'", ["alias l=rm x", "rm x"]],
    ["source a.sh; . ./b.sh", ["source a.sh", ". ./b.sh"]],
    // An option that we do not know: each word may be the command.
    ["sudo --odd a rm x", ["sudo --odd a rm x", "a rm x", "rm x", "x"]],
    ["su -c 'rm x'", ["su -c rm x", "rm x", "rm x"]],
    ["env -S 'rm x'", ["env -S rm x", "rm x", "rm x"]],
  ])("%j", async (command, expected) => {
    expect(await texts(command)).toEqual(expected);
  });
});

describe("a command that cannot be told is not parsed", () => {
  const unreadable = [
    "echo 'a",
    'echo "a',
    "echo $(",
    "echo `a",
    "(a",
    "a)",
    "if a; then b",
    "a &&",
    "echo ${x",
    "cat <<E\nbody",
    "a\0b",
    "x".repeat(65_537),
    "$x",
    "$(a) b",
    "`a` b",
    "${x} y",
    "${x@P}",
    "echo ${x@P}",
    "r? x",
    "/bin/r* x",
    "{rm,-rf,x}",
    '"$@"',
    "r$x y",
    '$"rm" x',
    'bash -c "$x"',
    "bash -c $(a)",
    "bash $x",
    "bash",
    "echo a | sh",
    "bash -s < a",
    "bash <<< 'rm x'",
    "bash <(a)",
    "sh /dev/stdin",
    ". <(a)",
    ". /dev/stdin",
    "eval $x",
    'eval "rm $x"',
    "env $x rm",
    "sudo $x",
    "xargs sh -c",
    "xargs env",
    "xargs -I{} {} x",
    "xargs -I{} sh -c 'rm {}'",
    "find . $x",
    "find . -exec {} \\;",
    'trap "$x" EXIT',
    "alias $x",
    "watch $x",
    "su",
    "x='$(rm y)'; ((x))",
    "PS4='$(rm x)'; set -x",
    "for x in 'a[$(rm y)]'; do ((x)); done",
    "read x <<< 'a[$(rm y)]'; ((x))",
    "[[ -v 'a[$(rm x)]' ]]",
    "let 'a[$(rm x)]=1'",
    "unset 'a[$(rm x)]'",
    "echo @(a|b)",
    "mapfile -C 'rm x' a",
    "compgen -W '$(rm x)'",
    "a() ".repeat(3),
    "sudo ".repeat(400) + "a",
    "$(".repeat(400),
    "su ".repeat(5000),
    "$[".repeat(30_000),
    "{a,".repeat(20_000),
  ];
  test.each(unreadable.map((command) => [JSON.stringify(command).slice(0, 60), command]))("%s", async (_, command) => {
    expect(await analyseShell(command)).toMatchObject({ parsed: false, why: expect.stringMatching(/\w/) });
  });
});

test("the certain part of an unreadable line is listed all the same", async () => {
  for (const command of [
    "a; rm x; $y",
    "$y $(rm x)",
    'rm x; bash -c "$y"',
    "bash -c 'rm x; $y'",
    "rm x | sh",
    "flock $y rm x",
    "find $y -exec rm x \\;",
    "rm x; if",
  ]) {
    const { parsed, commands } = await analyseShell(command);
    expect([command, parsed, commands.map(({ text }) => text)]).toEqual([command, false, expect.arrayContaining(["rm x"])]);
  }
});

describe("details of a command", () => {
  test.each<[string, object]>([
    ["A=1 b", { name: "b", assignments: true }],
    ["env A=1 b", { name: "b", assignments: true }],
    ["export A=1", { name: "export", args: ["A=1"], assignments: true }],
    ["printf -v PATH x", { name: "printf", assignments: true }],
    ["printf x", { name: "printf", assignments: false }],
    ["for PATH in x; do :; done", { name: "", text: "PATH=", assignments: true }],
    ["((PATH=1))", { name: "", text: "PATH", assignments: true }],
    ["echo ${A:=b}", { name: "", text: "A=b", assignments: true }],
    ["a b 'c d' e", { args: ["b", "c d", "e"], dynamic: false, fixed: 3 }],
    ["a b $c d", { args: ["b", "$c", "d"], dynamic: true, fixed: 1 }],
    ['a "b$(c)"', { dynamic: true, fixed: 0 }],
    ["a *.ts", { dynamic: true, fixed: 0 }],
    ["a '*.ts' \\$x \"\\$y\"", { args: ["*.ts", "$x", "$y"], dynamic: false }],
    ["a {b,c}", { dynamic: true }],
    ["xargs rm -f", { name: "rm", args: ["-f"], dynamic: true, fixed: 1 }],
  ])("%j", async (command, expected) => {
    const analysis = await analyseShell(command);
    expect(analysis.parsed && analysis.commands).toContainEqual(expect.objectContaining(expected));
  });

  test.each<[string, string[]]>([
    ["a > b", ["b"]],
    ["a >> b 2> c", ["b", "c"]],
    ["a >| b; c <> d; e &> f; g &>> h; i >& j", ["b", "d", "f", "h", "j"]],
    ["a 2>&1 >&- 1>&2 < b <<< c", []],
    ["> a", ["a"]],
    ["{ a; } > b", ["b"]],
    ["if a; then b; fi > $c", ["$c"]],
    ["echo $(a > b)", ["b"]],
    ["exec 3> b", ["b"]],
    ["a < /dev/tcp/example.com/80", ["/dev/tcp/example.com/80"]],
    ["bash -c 'a > b'", ["b"]],
    ["a > '/dev/null'", ["/dev/null"]],
  ])("writes of %j", async (command, expected) => {
    const analysis = await analyseShell(command);
    expect(analysis.parsed && analysis.writes).toEqual(expected);
  });
});

const bash = spawnSync("bash", ["-c", "echo ok"], { encoding: "utf8" }).stdout === "ok\n";
if (!bash) process.stderr.write("skipped: there is no bash to compare the analysis with\n");

/** Fragments that open, close, quote and run; only an `rm` that leaves a mark can be reached from them. */
const fragment = fc.constantFrom(
  ..."rm x|rm x|rm x| |\n|;|&&|&|$(|)|`|\"|'|$'|\\|\\\n|${x:-|}|((|))|$((|[[ | ]]|<<E\n|\nE\n|<<-E\n\t|<<'E'\n|echo |(|{ |; }|if true; then | fi".split(
    "|",
  ),
  ...'for i in a; do | done|case a in a) | ;; esac|f() |x=|a[|]|<(|>(|#|!|{a,|eval |coproc |time |$x|"$@"|<<<|$[|$\\\n(|${ |x=(|\t|\r|\u00a0'.split(
    "|",
  ),
  ..."$\"|r''m x|\\rm x|command |exec |trap '|' EXIT|bash -c '|let |a[$(rm x)]|'a[$(rm x)]'|((x))|${x@P}|set -- |$1|${!x}|PS4=|set -x;".split(
    "|",
  ),
  ..."{x},|,rm}|{A=1},rm} x|env |env a-b=1 |$'\\x{72}m' x|$\\\nx|x=rm;|~|HOME=rm;|//dev/stdin|cd /dev;|stdin|<<< 'rm x'|env --spl=|-S".split(
    "|",
  ),
);

describe.runIf(bash)("bash itself runs nothing that the analysis did not see", () => {
  let home = "";
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "shell-"));
    mkdirSync(join(home, "bin"));
    mkdirSync(join(home, "work"));
    writeFileSync(join(home, "bin", "rm"), `#!/bin/sh\n: > '${join(home, "mark")}'\n`);
    chmodSync(join(home, "bin", "rm"), 0o755);
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  function runsRm(command: string): boolean {
    const env = { ...process.env, PATH: `${join(home, "bin")}:${process.env["PATH"] ?? ""}` };
    const { error } = spawnSync("bash", ["-c", command], { cwd: join(home, "work"), env, stdio: "ignore", timeout: 10_000 });
    expect(error).toBeUndefined();
    const ran = existsSync(join(home, "mark"));
    rmSync(join(home, "mark"), { force: true });
    return ran;
  }

  test.each([
    'r"m" x',
    "$'\\x72\\x6d' x",
    'echo "$\\\n(rm x)"',
    "cat <<-EOF\n\t$(rm x)\n\tEOF\n",
    "echo `rm x`",
    "cat <(rm x); wait",
    "echo ${x:-$(rm y)}",
    'env -i "PATH=$PATH" rm x',
    "echo a | xargs rm",
    "find . -maxdepth 0 -exec rm {} +",
    "bash -c 'rm x'",
    "eval rm x",
    "eval -- rm x",
    "bash -oo posix errexit -c 'rm x'",
    "trap 'rm x' EXIT",
    "a(){ rm x; }; a",
    "command rm",
    "\\rm x",
    "true\nrm x",
    "true # c\nrm x",
    "true & rm x; wait",
    "cat <<< $(rm x)",
    "echo $((1$(rm x)))",
    "time rm x",
    "! rm x",
    "x=a[$(rm x)]",
    "x='a[$(rm y)]'; ((x))",
    "x='$(rm y)'; echo ${x@P}",
    "x=rm; $x y",
    "echo rm x | bash",
    "bash <<< 'rm x'",
    "shopt -s expand_aliases\nalias q='rm x'\nq",
    "nice -n 1 rm x",
    "timeout 5 rm x",
    "case $(rm x) in *) ;; esac",
    "[[ -f $(rm x) ]]",
    "PS4='$(rm x)'; set -x; true",
  ])("%j runs rm, and we know", async (command) => {
    expect(runsRm(command)).toBe(true);
    const analysis = await analyseShell(command);
    if (analysis.parsed) expect(analysis.commands.map(({ name }) => name)).toContain("rm");
  });

  test("random lines", async () => {
    const line = fc.array(fragment, { minLength: 2, maxLength: 10 }).map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(line, async (command) => {
        const analysis = await analyseShell(command);
        if (!analysis.parsed || analysis.commands.some(({ name }) => name === "rm")) return;
        expect(runsRm(command)).toBe(false);
      }),
      { numRuns: 400 },
    );
  });
});

test("never throws", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string(),
        fc.string({ unit: "binary" }),
        fc.array(fragment).map((parts) => parts.join("")),
      ),
      async (command) => {
        expect(await analyseShell(command)).toHaveProperty("parsed");
      },
    ),
    { numRuns: 2000 },
  );
});
