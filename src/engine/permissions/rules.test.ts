import { homedir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Rule } from "../../core/config.js";
import type { Category } from "../../core/event.js";
import { parseRule } from "../../core/text/rule-text.js";
import { compilePathPattern } from "./path-pattern.js";
import { compileRules, type JudgedCall, type Verdict } from "./rules.js";

type Decision = Verdict["decision"];

/** `-Bash(rm *)` denies, `?…` asks, `+…` allows. */
function rule(text: string): Rule {
  const body = text.slice(1);
  if (text.startsWith("-")) return { deny: body };
  return text.startsWith("?") ? { ask: body } : { allow: body };
}

async function judge(rules: readonly string[], call: Partial<JudgedCall>): Promise<Verdict> {
  const compiled = await compileRules(rules.map((text) => rule(text)));
  return compiled.judge({ tool: "Bash", category: "exec", args: {}, paths: [], ...call });
}

async function decide(rules: readonly string[], call: Partial<JudgedCall>): Promise<Decision> {
  return (await judge(rules, call)).decision;
}

const bash = (command: string): Partial<JudgedCall> => ({ args: { command } });

describe("parseRule", () => {
  test.each<[string, object]>([
    ["Bash", { tool: "Bash" }],
    [" Bash ", { tool: "Bash" }],
    ["Bash(*)", { tool: "Bash" }],
    ["Bash( * )", { tool: "Bash" }],
    ["Bash(rm *)", { tool: "Bash", pattern: "rm *" }],
    ["Bash(echo (a))", { tool: "Bash", pattern: "echo (a)" }],
    ["mcp__files__*", { tool: "mcp__files__*" }],
    ["edit", { tool: "edit" }],
  ])("%j", (text, expected) => expect(parseRule(text)).toEqual(expected));

  test.each([
    ["", "names no tool"],
    ["(x)", "names no tool"],
    ["Bash(rm", "lacks its closing bracket"],
    ["Bash(rm) x", "has text after its closing bracket"],
    ["Bash)", "has a tool name with"],
    ["Bash rm", "has a tool name with"],
    ["Bash()", "has an empty pattern"],
  ])("%j %s", (text, problem) => {
    expect(() => parseRule(text)).toThrow(`The rule '${text}' ${problem}`);
  });

  test.each([
    ["-Bash(rm", "lacks its closing bracket"],
    ["+Bash(:*)", "has no command before ':*'"],
    ["-Read(!a)", "begins with '!'"],
    ["-Read({a,b)", "is not a valid glob"],
    ["-WebFetch(example.com)", "names neither a domain"],
    ["-WebFetch(domain:)", "has no plain domain"],
    ["-WebFetch(domain:a/b)", "has no plain domain"],
    ["-WebFetch(https://a@b/*)", "has an address with more"],
    ["+mcp__a__b(x)", "allows 'mcp__a__b' by a pattern"],
    ["+*(x)", "allows '*' by a pattern"],
  ])("%s is refused when compiled: %s", async (text, problem) => {
    await expect(compileRules([rule(text)])).rejects.toMatchObject({
      fault: { code: "config", message: expect.stringContaining(problem) },
    });
    await expect(compileRules([rule(text)])).rejects.toThrow(text.slice(1));
  });
});

/** Each line runs `rm`, hidden in some way, with harmless company. */
const HIDDEN_RM = [
  "cat $(>o ! rm x)",
  "cat $(>o coproc rm x)",
  "hash -p /bin/rm ls; ls x",
  "hash -p/bin/rm ls",
  "jobs -x rm x",
  "chronic rm x",
  "hyperfine 'rm x'",
  "GIT_PAGER='rm x' git log",
  "export PAGER='rm x'; man ls",
  "declare -x GIT_SSH_COMMAND='rm x'; git fetch",
  "env LESSOPEN='|rm x' less a",
  "npx rm x",
  "npm exec -- rm x",
  "pnpm --silent dlx rm x",
  "uv run rm x",
  "poetry run sh -c 'rm x'",
  "bundle exec rm x",
  "ssh h rm x",
  "ssh -p 22 h 'ls; rm x'",
  "docker run --rm a sh -c 'rm x'",
  "docker compose exec a rm x",
  "kubectl exec p -- rm x",
  "rm x",
  "  rm\tx",
  "rm  x",
  'r"m" x',
  "'rm' x",
  "$'\\x72\\x6d' x",
  "$'\\162m' x",
  "\\rm x",
  "r\\m x",
  "r''m x",
  "r\\\nm x",
  "/bin/rm x",
  "../bin/rm x",
  "~/bin/rm x",
  "ls; rm x",
  "ls && rm x",
  "ls || rm x",
  "ls | rm x",
  "ls |& rm x",
  "ls & rm x",
  "ls\nrm x",
  "ls # c\nrm x",
  "rm x # c",
  "ls;rm x",
  "(rm x)",
  "{ rm x; }",
  "! rm x",
  "time rm x",
  "time -p rm x",
  "coproc rm x",
  "coproc C { rm x; }",
  "if rm x; then ls; fi",
  "if ls; then rm x; fi",
  "if ls; then ls; else rm x; fi",
  "while ls; do rm x; done",
  "until rm x; do ls; done",
  "for i in 1; do rm x; done",
  "for ((;;)); do rm x; done",
  "case a in a) rm x;; esac",
  "select i in 1; do rm x; done",
  "a(){ rm x; }; a",
  "function a { rm x; }",
  "a() ( rm x )",
  "echo $(rm x)",
  "echo `rm x`",
  'echo "$(rm x)"',
  'echo "`rm x`"',
  'echo "a \\"$(rm x)\\""',
  'echo "$\\\n(rm x)"',
  "echo $(echo $(rm x))",
  "echo `echo \\`rm x\\``",
  "cat <(rm x)",
  "ls > >(rm x)",
  "echo ${x:-$(rm y)}",
  'echo "${x:-$(rm y)}"',
  "echo ${x:+`rm y`}",
  "echo ${x#$(rm y)}",
  "echo ${x/a/$(rm y)}",
  "echo ${x:$(rm y)}",
  "echo ${x[$(rm y)]}",
  "echo $(($(rm x)+1))",
  "(( $(rm x) ))",
  "echo $[$(rm x)]",
  "a[$(rm x)]=1",
  "x=$(rm x)",
  "x=`rm y` ls",
  "a=($(rm x))",
  "export A=$(rm x)",
  "[[ -f $(rm x) ]]",
  "[ -f $(rm x) ]",
  "cat <<EOF\n$(rm x)\nEOF",
  "cat <<-EOF\n\t$(rm x)\n\tEOF",
  "cat <<EOF\n`rm x`\nEOF",
  "cat <<EOF\n${x:-$(rm y)}\nEOF",
  "cat <<'A'; rm x\nA",
  "cat <<A\nA\nrm x",
  "cat <<< $(rm x)",
  "ls > $(rm x)",
  "ls < $(rm x)",
  "${ rm x; }".replace("${", "echo ${"),
  "ls 2>&1 | rm x",
  "case $(rm x) in *) ls;; esac",
  "for i in $(rm x); do ls; done",
  "FOO=1 rm x",
  "FOO=1 BAR=2 rm x",
  "> out rm x",
  "rm x > out",
  "<in rm x",
  "rm x &",
  "rm x;",
  "rm x &>/dev/null",
  "bash -c 'rm x'",
  'sh -c "rm x"',
  "/bin/bash -lc 'ls; rm x'",
  "bash -c 'bash -c \"rm x\"'",
  "bash -o pipefail -c 'rm x'",
  "bash -c -- 'rm x'",
  "zsh -c 'rm x'",
  "dash -ec 'rm x'",
  "env rm x",
  "env -i rm x",
  "env - rm x",
  "env A=1 rm x",
  "env -u A rm x",
  "env -- rm x",
  "/usr/bin/env rm x",
  "sudo rm x",
  "sudo -u root rm x",
  "sudo -uroot rm x",
  "sudo A=1 rm x",
  "sudo --user root rm x",
  "sudo --user=root rm x",
  "sudo --unknown rm x",
  "doas rm x",
  "doas -u root rm x",
  "nohup rm x",
  "nohup rm x &",
  "nice rm x",
  "nice -n 5 rm x",
  "nice -5 rm x",
  "timeout 5 rm x",
  "timeout -s KILL 5 rm x",
  "timeout -k 1 5 rm x",
  "timeout --kill-after=1 5 rm x",
  "\\time -p rm x",
  "command rm x",
  "command -p rm x",
  "builtin rm x",
  "exec rm x",
  "exec -a ls rm x",
  "stdbuf -o0 rm x",
  "stdbuf --output=L rm x",
  "setsid rm x",
  "setsid -w rm x",
  "xargs rm",
  "ls | xargs rm",
  "ls | xargs -0 rm",
  "ls | xargs -n 1 rm",
  "xargs -I{} rm {}",
  "xargs -P4 -I % rm %",
  "xargs --max-args=1 rm",
  "xargs -i rm {}",
  "watch rm x",
  "watch -n 1 'rm x'",
  "watch 'ls; rm x'",
  "watch -x rm x",
  "find . -exec rm {} +",
  "find . -exec rm {} \\;",
  "find . -name '*.a' -execdir rm {} ';'",
  "find . -ok rm {} \\;",
  "find . -exec ls {} \\; -exec rm {} \\;",
  "find . -exec bash -c 'rm x' \\;",
  "trap 'rm x' EXIT",
  "trap -- 'ls; rm x' INT",
  "eval rm x",
  "eval 'rm x'",
  'eval "rm" "x"',
  "eval 'eval \"rm x\"'",
  "alias q='rm x'",
  "sudo env nice timeout 5 rm x",
  "sudo bash -c 'rm x'",
  "env bash -c 'env rm x'",
  "busybox rm x",
  "su -c 'rm x'",
  "su root -c 'rm x'",
  "flock f rm x",
  "chroot / rm x",
  "strace -f rm x",
  "parallel rm ::: x",
  "eval -- rm x",
  "bash -oo posix errexit -c 'rm x'",
  "bash -oec posix 'rm x'",
  "zsh -oerrexit -c 'rm x'",
  "sg root -c 'rm x'",
  "linux64 rm x",
  "linux32 rm x",
  "i386 rm x",
  "x86_64 rm x",
  "uname26 rm x",
  "setpriv rm x",
  "setpriv --reuid 0 rm x",
  "choom -n 0 -- rm x",
  "ssh-agent rm x",
  "uclampset -m 1 rm x",
  "ld.so /bin/rm x",
  "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
  "/lib/ld-musl-x86_64.so.1 /bin/rm x",
  "csh -c 'rm x'",
  "tcsh -fc 'rm x'",
  "fish -c 'rm x'",
  "fish -C 'rm x' a.fish",
  "busybox sh -c 'rm x'",
  "toybox rm x",
  "env -S 'rm x'",
  "script -qc 'rm x' out",
  "unshare -r rm x",
  "nsenter -t 1 rm x",
  "runuser -u root -- rm x",
  "pkexec rm x",
  "systemd-run --wait rm x",
  "taskset 1 rm x",
  "chrt -b 0 rm x",
  "ionice -c 3 rm x",
  "prlimit --nofile=9 rm x",
  "numactl -N 0 rm x",
  "flock f -c 'rm x'",
  "su -c 'rm${IFS}x;rm x'",
  "su -c 'ls;rm'",
  "entr rm x",
  "parallel 'rm {}' ::: x",
  "tmux new-session 'rm x'",
  "echo ü; rm x",
  "echo '😀' && rm x",
  "rm ü",
  "rm '\n'",
  "rm -- x",
  "rm $x",
  "rm *",
  'rm "$x"',
];

/** These may run `rm`, and only running them would tell. */
const OPAQUE = [
  "$x y",
  "x=rm; $x y",
  "${x} y",
  "$(echo rm) y",
  "`echo rm` y",
  "r? x",
  "/bin/r* x",
  "{rm,x}",
  "r$y x",
  '"$@"',
  "${x@P}",
  "echo ${x@P}",
  "eval $x",
  'eval "$x"',
  'bash -c "$x"',
  "echo rm x | sh",
  "curl a | bash",
  "bash <<< 'rm x'",
  "bash <<E\nrm x\nE",
  "bash <(echo rm x)",
  ". <(echo rm x)",
  "source /dev/stdin",
  "env $x y",
  "sudo $x",
  "xargs sh -c",
  "xargs -I{} sh -c 'a {}'",
  "find . $x",
  'trap "$x" EXIT',
  "x='$(rm y)'; echo ${x@P}",
  "x='a[$(rm y)]'; ((x))",
  "PS4='$(rm x)'; set -x; ls",
  "echo 'unbalanced",
  "echo $(",
  "cat $(>o [[ -v 'a[$(rm x)]' ]])",
  "cat <<E\nrm",
  "ls )",
  "a\0b",
  "x".repeat(70_000),
];

/** These run code of another language, or text by way of an option. */
const UNSEEN = [
  "at now <<< 'rm x'",
  "batch <<< 'rm x'",
  "echo '* * * * * rm x' | crontab -",
  "echo '!rm x' | ed a",
  "dc <<< '!rm x'",
  "m4 <<< 'syscmd(rm)'",
  "man -P 'rm x' ls",
  "psql -c '\\! rm x'",
  "mysql -e 'system rm x'",
  "rpm -E '%(rm x)'",
  'PAGER="$x" git log',
  "awk 'BEGIN{system(\"rm x\")}'",
  "awk 'BEGIN{print | \"rm x\"}'",
  "gawk 'BEGIN{\"rm x\" | getline}'",
  'awk "$x" a',
  'awk -F , "$x" a',
  'sed -n "$x" a',
  "perl -e 'unlink x'",
  "perl -lane 'print' a",
  "perl -0777 -pe 's/a/b/' a",
  "python -c 'import os'",
  "python3.12 -W ignore -c 'import os'",
  "/usr/bin/python3 -uc 'import os'",
  "python3 <<E\nimport os\nE",
  "echo 1 | python3 -",
  "python3 $x",
  "node -e 'a'",
  "node --eval='a'",
  "node -pe 'a'",
  "ruby -e 'a'",
  "php -r 'a;'",
  "lua5.4 -e 'a'",
  "deno eval 'a'",
  "bun -e 'a'",
  "Rscript -e 'a'",
  "sudo python3 -c 'a'",
  "sed '1e rm x' a",
  "sed 's/a/rm x/e' a",
  "sed -n -e 's|a|b|ge' a",
  "vim -c '!rm x' a",
  "vim '+!rm x' a",
  "git -c alias.x='!rm y' x",
  "git -c core.pager='rm y' log",
  "git rebase -x 'rm y' main",
  "git bisect run rm x",
  "tar xf a --to-command='rm x'",
  "tar cf a b --checkpoint=1 --checkpoint-action=exec='rm x'",
  "tar -I 'rm x' -xf a",
  "make --eval='a:;rm x'",
  "split --filter='rm x' a",
  "sort --compress-program=rm a",
  "rsync -e 'rm x' a b",
];

/** The same programs, at their plain work. */
const SEEN = [
  "crontab -l",
  "man ls",
  "psql -c 'select 1'",
  "hash -r",
  "jobs -l",
  "PAGER=cat git log",
  "docker mv a b",
  "npm mv a b",
  "kubectl get mv",
  "ssh mv",
  "awk '{print $1}' a",
  "awk -F: '{print $1}' a",
  "awk -v a=$b '{print $1}' $c",
  'sed "s/$a/b/" $c',
  "python3 a.py",
  "python3 a.py -c x",
  "python3 -m pytest -c x",
  "python --version",
  "node a.js -e",
  "node --test",
  "ruby a.rb",
  "sed -n 's/a/e/gp' a",
  "sed -i 's/one/else/' a",
  "sed -n 5p a",
  "vim a",
  "git -c user.name=a commit -m e",
  "git clean -fdx",
  "tar -xzf a",
  "make -f a b",
  "sort -r a",
];

describe("a hidden command is found", () => {
  test.each(UNSEEN)("%j is code that we do not read", async (command) => {
    expect(await judge(["-Bash(mv *)", "+Bash"], bash(command))).toMatchObject({
      decision: "ask",
      why: expect.stringContaining("is not seen"),
    });
    expect(await decide(["?Bash(mv *)", "+Bash"], bash(command))).toBe("ask");
    expect(await decide(["+Bash"], bash(command))).toBe("allow");
  });

  test.each(SEEN)("%j is not asked about", async (command) => {
    expect(await decide(["-Bash(mv *)", "+Bash"], bash(command))).toBe("allow");
  });

  test.each([
    ["npx prettier *", "npx prettier --check a"],
    ["ssh h *", "ssh h ls '>' a"],
    ["docker run *", "docker run $a python -c x"],
    ["npm exec:*", "npm exec -- eslint 'a b'"],
  ])("an allow rule %s that names a runner of programs still holds", async (rule, command) => {
    expect(await decide([`+Bash(${rule})`], bash(command))).toBe("allow");
    expect(await decide([`+Bash(${rule})`, "-Bash(mv *)"], bash(command))).toBe("allow");
  });

  test("an allow rule that names the interpreter still holds", async () => {
    expect(await decide(["+Bash(python3:*)"], bash("python3 -c 'a'"))).toBe("allow");
  });

  test.each(HIDDEN_RM)("%j", async (command) => {
    expect(await decide(["-Bash(rm *)", "+Bash"], bash(command))).toBe("deny");
    expect(await decide(["-Bash(rm:*)", "+Bash"], bash(command))).toBe("deny");
    expect(await decide(["?Bash(rm *)", "+Bash"], bash(command))).toBe("ask");
    const others = [
      "ls",
      "cat",
      "echo",
      "bash",
      "sh",
      "env",
      "sudo",
      "xargs",
      "find",
      "eval",
      "trap",
      "watch",
      "time",
      "command",
      "timeout",
      "su",
    ];
    expect(
      await decide(
        others.flatMap((name) => [`+Bash(${name}:*)`]),
        bash(command),
      ),
    ).toBe("none");
  });

  test.each(OPAQUE.map((command) => [JSON.stringify(command).slice(0, 60), command]))("%s is asked about", async (_, command) => {
    expect(await judge(["-Bash(rm *)", "+Bash"], bash(command))).toMatchObject({
      decision: "ask",
      rule: "Bash(rm *)",
      why: expect.stringContaining("could not be parsed"),
    });
    expect(await decide(["?Bash(rm *)", "+Bash"], bash(command))).toBe("ask");
    expect(await decide(["+Bash"], bash(command))).toBe("allow");
    expect(await decide(["+Bash(ls *)", "+Bash(echo *)", "+Bash(**)"], bash(command))).toBe("none");
    expect(await decide(["-Bash", "+Bash"], bash(command))).toBe("deny");
  });
});

describe("Bash rules", () => {
  test.each<[string[], string, Decision]>([
    [[], "ls", "none"],
    [["+Bash"], "anything | at > all", "allow"],
    [["-Bash"], "ls", "deny"],
    [["?Bash", "+Bash"], "ls", "ask"],
    [["+Bash(ls)"], "ls", "allow"],
    [["+Bash(ls)"], "ls -l", "none"],
    [["+Bash(ls)"], "lsof", "none"],
    [["+Bash(ls *)"], "ls -l 'a b'", "allow"],
    [["+Bash(ls *)"], "ls", "none"],
    [["+Bash(ls:*)"], "ls", "allow"],
    [["+Bash(ls:*)"], "ls -l", "allow"],
    [["+Bash(ls:*)"], "lsof", "none"],
    [["+Bash(ls*)"], "lsof", "allow"],
    [["+Bash(git diff:*)"], "git diff --stat", "allow"],
    [["+Bash(git diff:*)"], "git difftool", "none"],
    [["+Bash(git diff:*)"], "git  diff\n", "allow"],
    [["+Bash(git * --stat)"], "git log -n 3 --stat", "allow"],
    [["+Bash(ls:*)", "+Bash(cat:*)"], "ls | cat -n && (cat b)", "allow"],
    [["+Bash(ls:*)"], "ls | cat -n", "none"],
    [["+Bash(ls:*)"], "/tmp/evil/ls", "none"],
    [["+Bash(ls:*)"], "./ls", "none"],
    [["+Bash(ls:*)"], "'ls ' x", "none"],
    [["+Bash(ls:*)"], "'ls x'", "none"],
    [["+Bash(ls:*)"], '"" ls', "none"],
    [["+Bash(ls:*)"], "\\ls 'x'", "allow"],
    [["+Bash(ls:*)"], "LS", "none"],
    [["+Bash(ls:*)"], "ls > out", "none"],
    [["+Bash(ls:*)"], "ls >> out", "none"],
    [["+Bash(ls:*)"], "ls >& out", "none"],
    [["+Bash(ls:*)"], "ls <> out", "none"],
    [["+Bash(ls:*)"], "ls >/dev/null 2>&1", "allow"],
    [["+Bash(ls:*)"], "ls 2>/dev/stderr >/dev/stdout", "allow"],
    [["+Bash(ls:*)"], "ls > /dev/null/../sda", "none"],
    [["+Bash(ls:*)"], "ls > $x", "none"],
    [["+Bash(ls:*)"], "ls < in", "allow"],
    [["+Bash(ls:*)"], "ls < /dev/tcp/a/1", "none"],
    [["+Bash(ls:*)"], "> out", "none"],
    [["+Bash(ls:*)"], "(ls) > out", "none"],
    [["+Bash(ls:*)"], "PATH=/tmp ls", "none"],
    [["+Bash(ls:*)"], "PATH=/tmp; ls", "none"],
    [["+Bash(ls:*)", "+Bash(PATH=*)"], "PATH=/tmp ls", "none"],
    [["+Bash(ls:*)", "+Bash(export *)"], "export PATH=/tmp; ls", "none"],
    [["+Bash(ls:*)", "+Bash(printf *)"], "printf -v PATH /tmp; ls", "none"],
    [["+Bash(ls:*)", "+Bash(printf *)"], "for a in -v; do printf $a PATH /tmp; done; ls", "none"],
    [["+Bash(ls:*)", "+Bash(read *)"], "read PATH; ls", "none"],
    [["+Bash(ls:*)", "+Bash(hash *)"], "hash -p /tmp/x ls; ls", "none"],
    [["+Bash(ls:*)", "+Bash(env *)"], "env A=1 ls", "none"],
    [["+Bash(ls:*)", "+Bash(env *)"], "env -i ls", "allow"],
    [["+Bash(ls:*)"], "env -i ls", "none"],
    [["+Bash(ls:*)"], "for PATH in /tmp; do ls; done", "none"],
    [["+Bash(ls:*)"], "for f in a b; do ls $f; done", "allow"],
    [["+Bash(ls:*)"], "((PATH=1)); ls", "none"],
    [["+Bash(ls:*)"], "ls ${PATH:=/tmp}; ls", "none"],
    [["+Bash(ls:*)"], "ls $((1+1))", "allow"],
    [["+Bash(ls:*)"], "ls $((x))", "none"],
    [["+Bash(ls:*)"], "ls $(ls)", "allow"],
    [["+Bash(ls:*)"], "ls $(id)", "none"],
    [["+Bash(ls:*)"], 'ls "$x" *.ts {a,b}', "allow"],
    [["+Bash(ls)"], "ls $x", "none"],
    [["+Bash(ls a)"], "ls $x", "none"],
    [["+Bash(git $x)"], "git $x", "none"],
    [["+Bash(git $x)"], "git '$x'", "allow"],
    [["+Bash(git log *)"], "git $x log a", "none"],
    [["+Bash(git log *)"], "git log $x", "none"],
    [["+Bash(git log *)"], "git log -- $x", "allow"],
    [["+Bash(git * log *)"], "git -C $x log a", "none"],
    [["+Bash(git log*)"], "git log$x", "none"],
    [["+Bash(git -C * status)"], "git -C $x status", "none"],
    [["+Bash(cat *.md)"], "cat *.md", "none"],
    [["+Bash(cat *.md)"], "cat a.md", "allow"],
    [["+Bash(ls:*)"], "", "none"],
    [["+Bash(ls:*)"], "# ls", "none"],
    [["+Bash(ls:*)"], "ls() { id; }; ls", "none"],
    [["+Bash(ls:*)"], "alias ls=id; ls", "none"],
    [["+Bash(ls:*)"], "ls; $x", "none"],
    [["+Bash(ls:*)", "+Bash([[ *)"], "[[ -f a ]] && ls", "allow"],
    [["+Bash(ls:*)"], "[[ -f a ]] && ls", "none"],
    [["-Bash(rm -rf *)"], "rm -rf x", "deny"],
    [["-Bash(rm -rf *)"], "rm -fr x", "deny"],
    [["-Bash(rm -rf *)"], "rm -r -f x", "deny"],
    [["-Bash(rm -rf *)"], "rm -f -v -r x", "deny"],
    [["-Bash(rm -rf *)"], "rm x -rf", "deny"],
    [["-Bash(rm -rf *)"], "rm -rfv x", "deny"],
    [["-Bash(rm -rf *)"], "rm -rf", "deny"],
    [["-Bash(rm -rf *)"], "/bin/rm -fr x", "deny"],
    [["-Bash(rm -rf *)"], "sudo rm -rf /", "deny"],
    [["-Bash(rm -rf *)"], "ls | xargs rm -fr", "deny"],
    [["-Bash(rm -rf *)"], "rm -Rf x", "deny"],
    [["-Bash(rm -rf *)"], "rm -f -R x", "deny"],
    [["-Bash(rm -Rf *)"], "rm -rf x", "deny"],
    [["?Bash(cp -r *)"], "cp -R a b", "ask"],
    [["-Bash(chmod -R *)"], "chmod -R 777 a", "deny"],
    [["-Bash(ls -r *)"], "ls -R a", "none"],
    [["+Bash(rm -r *)"], "rm -R a", "none"],
    [["-Bash(rm -rf *)"], "rm -r x", "none"],
    [["-Bash(rm -rf *)"], "rm -f x", "none"],
    [["-Bash(rm -rf *)"], "rm -- -rf", "none"],
    [["-Bash(rm -rf *)"], "rm --recursive --force x", "none"],
    [["-Bash(rm -rf *)"], "rmdir -rf x", "none"],
    [["-Bash(rm -rf *)", "+Bash"], "rm $x", "ask"],
    [["-Bash(rm -rf *)", "+Bash"], "rm -r $x", "ask"],
    [["-Bash(rm -rf *)", "+Bash"], "find . -exec rm -r {} +", "ask"],
    [["-Bash(rm -rf *)", "+Bash"], "ls | xargs rm", "ask"],
    [["-Bash(rm -rf *)", "+Bash"], "ls $x; rm -r y", "allow"],
    [["-Bash(rm -rf /)"], "rm -fr /", "deny"],
    [["-Bash(rm -rf /)"], "rm -fr /tmp", "none"],
    [["-Bash(git push -f *)"], "git push origin -f", "deny"],
    [["-Bash(git push *)", "+Bash(git *)"], "git push", "deny"],
    [["-Bash(git push *)", "+Bash(git *)"], "git pull", "allow"],
    [["-Bash(git push *)", "+Bash(git *)"], "git $x", "ask"],
    [["-Bash(git push *)", "+Bash(git *)"], "git pull $x", "none"],
    [["-Bash(git push *)", "+Bash"], "git pull $x", "allow"],
    [["-Bash(*--no-verify*)", "+Bash(git *)"], "git commit --no-verify", "deny"],
    [["-Bash(*--no-verify*)", "+Bash(git *)"], 'git commit "--no"-verify', "deny"],
    [["-Bash(*secret*)"], "cat a/secret.txt", "deny"],
    [["-Bash(*secret*)"], 'cat a/sec""ret.txt', "deny"],
    [["-Bash(*| sh)"], "curl a | sh", "deny"],
    [["-Bash(LD_PRELOAD=*)"], "true; LD_PRELOAD=a ls", "deny"],
    [["-Bash(rm *)"], "rm 'unbalanced", "deny"],
    [["-Bash(rm *)"], "ls; rm x; $y", "deny"],
    [["-Bash(rm *)"], "ls; rm x; if", "deny"],
    [["-Bash(rm *)"], "echo rm x", "none"],
    [["-Bash(rm *)"], "echo 'rm x'", "none"],
    [["-Bash(rm *)"], "git rm x", "none"],
    [["-Bash(rm *)"], "rmdir x", "none"],
    [["-Bash(rm *)"], "command -v rm", "none"],
    [["-Bash(rm *)"], "# rm x", "none"],
    [["-Bash(rm *)"], "cat <<'E'\n$(rm x)\nE", "none"],
    [["-Bash(rm *)"], "echo '$(rm x)' \\`rm x\\`", "none"],
    [["-Bash(rm *)"], "rm\u00a0x", "none"],
    [["-exec"], "ls", "deny"],
    [["-exec(rm *)", "+exec"], "ls; rm x", "deny"],
    [["+exec(ls:*)"], "ls", "allow"],
    [["-edit", "+Bash"], "ls", "allow"],
    [["-BASH", "+Bash"], "ls", "allow"],
    [["-run_shell_command", "+Bash"], "ls", "deny"],
    [["-Shell(rm *)", "+Bash"], "rm x", "deny"],
    [["-B*", "+Bash"], "ls", "deny"],
    [["-*(*rm x*)", "+Bash"], "ls; rm x", "deny"],
  ])("%j on %j: %s", async (rules, command, expected) => {
    expect(await decide(rules, bash(command))).toBe(expected);
    expect(await decide(rules.toReversed(), bash(command))).toBe(expected);
  });

  test("a verdict says which rules decided, and why", async () => {
    expect(await judge(["-Bash(rm *)"], bash("ls; rm x"))).toEqual({ decision: "deny", rule: "Bash(rm *)" });
    expect(await judge(["+Bash(ls:*)", "+Bash(cat:*)"], bash("cat a | ls"))).toEqual({
      decision: "allow",
      rule: "Bash(cat:*), Bash(ls:*)",
    });
    expect(await judge(["+Bash(ls:*)"], bash("ls > a"))).toEqual({ decision: "none", why: "it writes to 'a'" });
    expect(await judge(["+Bash(ls:*)"], bash("ls; id"))).toEqual({ decision: "none", why: "no rule allows 'id'" });
  });

  test("a call without a command", async () => {
    expect(await decide(["+Bash(ls:*)", "-Bash(rm *)"], { args: {} })).toBe("none");
    expect(await decide(["-Bash"], { args: { command: 3 } })).toBe("deny");
  });
});

const ROOT = "/home/me/space";

function path(tool: string, ...paths: string[]): Partial<JudgedCall> {
  const category: Category = tool === "Write" || tool === "Edit" ? "edit" : "info";
  const located = paths.map((each) => (each.startsWith("/") ? { path: each } : { path: join(ROOT, each), relative: each }));
  return { tool, category, args: {}, paths: located };
}

describe("path rules", () => {
  test.each<[string, string, string[], Decision]>([
    ["-Read(.env)", "Read", [".env"], "deny"],
    ["-Read(.env)", "Read", ["a/b/.env"], "deny"],
    ["-Read(.env)", "Read", ["/etc/.env"], "deny"],
    ["-Read(.env)", "Read", [".env/a"], "deny"],
    ["-Read(.env)", "Read", [".env.local"], "none"],
    ["-Read(.env)", "Read", [".ENV"], "none"],
    ["-Read(.env)", "Write", [".env"], "none"],
    ["-Read(.env*)", "Read", ["a/.env.local"], "deny"],
    ["-Read(*.pem)", "Read", ["a/b.pem"], "deny"],
    ["-Read(*.pem)", "Read", ["a/.pem"], "deny"],
    ["-Read(*.pem)", "Read", ["a\nb.pem"], "deny"],
    ["-Read(*.pem)", "Read", ["/root/b.pem"], "deny"],
    ["-Read(secrets/)", "Read", ["secrets/a"], "deny"],
    ["-Read(secrets/)", "Read", ["secrets/a/.b"], "deny"],
    ["-Read(secrets/)", "Read", ["x/secrets/a"], "deny"],
    ["-Read(secrets/)", "Read", ["secrets"], "deny"],
    ["-Read(secrets/)", "Read", ["secretsx/a"], "none"],
    ["-Read(secrets/**)", "Read", ["secrets/a/b"], "deny"],
    ["-Read(secrets/**)", "Read", ["secrets/a\nb"], "deny"],
    ["-Read(secrets/**)", "Read", ["x/secrets/a"], "none"],
    ["-Read(./secrets/**)", "Read", ["secrets/a"], "deny"],
    ["-Read(**/secrets/**)", "Read", ["x/secrets/a"], "deny"],
    ["-Read(**/secrets/**)", "Read", ["/x/secrets/a"], "deny"],
    ["-Read(a/b)", "Read", ["a/b/c"], "deny"],
    ["-Read(a/(b)/c)", "Read", ["a/(b)/c/d"], "deny"],
    ["-Read(a/[id]/c)", "Read", ["a/[id]/c"], "deny"],
    ["-Read(space)", "Read", ["a"], "none"],
    ["-Read(/etc/**)", "Read", ["/etc/passwd"], "deny"],
    ["-Read(/etc/passwd)", "Read", ["/etc/passwd"], "deny"],
    ["-Read(/etc)", "Read", ["/etc/ssl/a"], "deny"],
    ["-Read(/etc/**)", "Read", ["etc/passwd"], "none"],
    [`-Read(${ROOT}/a)`, "Read", ["a"], "deny"],
    ["-Read(~/.ssh/**)", "Read", [join(homedir(), ".ssh/id")], "deny"],
    ["-Read(~/.ssh)", "Read", [join(homedir(), ".ssh/id")], "deny"],
    ["-Read(~/.ssh)", "Read", ["~/.ssh/id"], "none"],
    ["-Read(**)", "Read", [""], "deny"],
    ["-Read(.)", "Read", ["a/b"], "deny"],
    ["-Read(a)", "Read", ["b", "a"], "deny"],
    ["?Edit(a)", "Edit", ["b", "a"], "ask"],
    ["+Edit(src/**)", "Edit", ["src/a/b.ts"], "allow"],
    ["+Edit(src/**)", "Edit", ["src/.a"], "allow"],
    ["+Edit(src/**)", "Edit", ["src/a", "lib/b"], "none"],
    ["+Edit(src/**)", "Edit", ["x/src/a"], "none"],
    ["+Edit(src/**)", "Write", ["src/a"], "none"],
    ["+edit(src/**)", "Write", ["src/a"], "allow"],
    ["+Edit(src/)", "Edit", ["src/a/b"], "allow"],
    ["+Edit(src/)", "Edit", ["x/src/a"], "none"],
    ["+Edit(src)", "Edit", ["src/a"], "none"],
    ["+Edit(*.md)", "Edit", ["a/b.md"], "allow"],
    ["+Edit(*.md)", "Edit", ["a.md/b.sh"], "none"],
    ["+Edit(*.md)", "Edit", ["/etc/b.md"], "none"],
    ["+Edit(src/*.ts)", "Edit", ["src/a/b.ts"], "none"],
    ["+Edit(**)", "Edit", ["a"], "allow"],
    ["+Edit(**)", "Edit", ["/etc/passwd"], "none"],
    ["+Edit(**/a)", "Edit", ["/etc/a"], "none"],
    ["+Edit(/etc/**)", "Edit", ["/etc/a"], "allow"],
    ["+Edit(../b/**)", "Edit", ["../b/c"], "none"],
    ["+Edit(**)", "Edit", ["../b/c"], "none"],
    ["+Edit(src/**)", "Edit", ["src/../a"], "none"],
    ["+Read(**)", "Grep", ["a"], "none"],
    ["+Glob(**)", "Glob", [""], "allow"],
    ["+Glob(src/**)", "Glob", [""], "none"],
    ["+Glob(src/**)", "Glob", [], "none"],
    ["+Glob", "Glob", [], "allow"],
    ["+info", "Glob", [], "allow"],
    ["+info(src/**)", "Grep", ["src/a"], "allow"],
    ["-edit", "Write", ["a"], "deny"],
    ["-edit", "Read", ["a"], "none"],
    ["-Re*", "Read", ["a"], "deny"],
  ])("%s on %s %j: %s", async (text, tool, paths, expected) => {
    expect(await decide([text], path(tool, ...paths))).toBe(expected);
  });

  test("different rules may cover different paths", async () => {
    expect(await judge(["+Edit(a/**)", "+Edit(b/**)"], path("Edit", "b/1", "a/1"))).toEqual({
      decision: "allow",
      rule: "Edit(b/**), Edit(a/**)",
    });
  });
});

test("where file systems take any case of letters, so does what forbids, and what allows does not", async () => {
  const [folding, exact] = [await compilePathPattern("secrets/*.PEM", true), await compilePathPattern("secrets/*.PEM", false)];
  if ("problem" in folding || "problem" in exact) throw new Error("both are valid");
  const path = { path: "/w/Secrets/a.pem", relative: "Secrets/a.pem" };
  expect([folding.hits(path), folding.covers(path), exact.hits(path)]).toEqual([true, false, false]);
});

describe("WebFetch rules", () => {
  test.each<[string, string, Decision]>([
    ["+WebFetch(domain:example.com)", "https://example.com/a", "allow"],
    ["+WebFetch(domain:example.com)", "http://EXAMPLE.com:8080", "allow"],
    ["+WebFetch(domain:example.com)", "https://a.b.example.com./x", "allow"],
    ["+WebFetch(domain:*.example.com)", "https://a.example.com/x", "allow"],
    ["+WebFetch(domain:example.com)", "https://notexample.com", "none"],
    ["+WebFetch(domain:example.com)", "https://example.com.evil.org", "none"],
    ["+WebFetch(domain:example.com)", "https://example.com@evil.org", "none"],
    ["+WebFetch(domain:example.com)", "https://u:p@example.com", "none"],
    ["+WebFetch(domain:example.com)", "https://evil.org/#example.com", "none"],
    ["+WebFetch(domain:example.com)", "https://evil.org\\.example.com", "none"],
    ["+WebFetch(domain:example.com)", "not an address", "none"],
    ["-WebFetch(domain:example.com)", "not an address", "ask"],
    ["-WebFetch(domain:example.com)", "https://u@x.example.com", "deny"],
    ["-WebFetch(domain:münchen.de)", "https://xn--mnchen-3ya.de/", "deny"],
    ["+WebFetch(https://example.com/*)", "https://example.com/a/b?c", "allow"],
    ["+WebFetch(https://example.com/*)", "http://example.com/a", "none"],
    ["+WebFetch(https://example.com/docs/*)", "https://example.com/docs/../admin", "none"],
    ["+WebFetch(https://example.com/docs/*)", "https://example.com/docs/%2e%2e/admin", "none"],
    ["+WebFetch(https://example.com)", "https://example.com/a", "allow"],
    ["+WebFetch(https://EXAMPLE.com:443/*)", "https://example.com/a", "allow"],
    ["+WebFetch(https://*.example.com/*)", "https://a.example.com/x", "allow"],
    ["+WebFetch(https://*.example.com/*)", "https://evil.org/.example.com/", "none"],
    ["+WebFetch(https://*.example.com/*)", "https://evil.org?.example.com/", "none"],
    ["-WebFetch(https://example.com/admin*)", "https://example.com/%61dmin", "deny"],
    ["-WebFetch(*secret*)", "https://example.com/?q=secret", "deny"],
    ["-WebFetch", "https://example.com", "deny"],
  ])("%s on %s: %s", async (text, url, expected) => {
    expect(await decide([text], { tool: "WebFetch", category: "info", args: { url } })).toBe(expected);
  });
});

describe("other tools", () => {
  test.each<[string, Decision]>([
    ["-mcp__files__*", "deny"],
    ["-mcp__files__read", "deny"],
    ["-mcp__files__write", "none"],
    ["-mcp", "deny"],
    ["-info", "none"],
    ["+mcp__files__read", "allow"],
    ["+mcp__*", "allow"],
    ["-mcp__files__read(*secret*)", "deny"],
    ["?mcp(top)", "ask"],
    ["-mcp__files__read(sec)", "none"],
  ])("%s: %s", async (text, expected) => {
    const args = { a: "top", b: { c: ["the secret"] }, d: 1 };
    expect(await decide([text], { tool: "mcp__files__read", category: "mcp", args })).toBe(expected);
  });
});

// Laws

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
