/** Commands that run a program, or read and write files, in ways that hide it: quoting, substitutions, wrappers, encodings. Seeded. */

export type Random = () => number;

/** The same numbers for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick<T>(random: Random, list: readonly T[]): T {
  const found = list[Math.floor(random() * list.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}

/** One word of a shell, for any text. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function doubleQuoted(text: string): string {
  return `"${text.replace(/["$`\\]/g, "\\$&")}"`;
}

const hex = (char: string): string => char.charCodeAt(0).toString(16);
const octal = (char: string): string => char.charCodeAt(0).toString(8).padStart(3, "0");
const each = (word: string, form: (char: string) => string): string => word.split("").map(form).join("");

const reversed = (text: string): string => text.split("").toReversed().join("");

/** Ways to write the same word. */
const SPELLINGS: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => word,
  quoted,
  (word) => `"${word}"`,
  (word) => `\\${word}`,
  (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
  (word) => `${word.slice(0, 2)}""${word.slice(2)}`,
  (word) => `${word.slice(0, 1)}\\${word.slice(1)}`,
  (word) => `${word.slice(0, 2)}\\\n${word.slice(2)}`,
  (word) => `$'${word}'`,
  (word) => `$"${word}"`,
  (word) => `$'${each(word, (char) => `\\x${hex(char)}`)}'`,
  (word) => `$'${each(word, (char) => `\\${octal(char)}`)}'`,
  (word) => `$'${each(word, (char) => `\\u00${hex(char)}`)}'`,
  (word) => `$'\\x${hex(word.slice(0, 1))}'${word.slice(1)}`,
  (word) => `${word.slice(0, 2)}$nothing${word.slice(2)}`,
  (word) => `${word.slice(0, 2)}\${nothing}${word.slice(2)}`,
  (word) => `${word.slice(0, 2)}$()${word.slice(2)}`,
  (word) => `${word.slice(0, 2)}\`\`${word.slice(2)}`,
  (word) => `${word}$@`,
  (word) => `\${nothing:-${word}}`,
  (word) => `\${nothing-${word}}`,
  (word) => `\${nothing:=${word}}`,
  (word) => `$(echo ${word})`,
  (word) => `\`echo ${word}\``,
  (word) => `$(printf %s ${word.slice(0, 2)} ${word.slice(2)})`,
  (word) => `$(rev <<<${reversed(word)})`,
  (word) => `$(base64 -d <<<${Buffer.from(word).toString("base64")})`,
  (word) => `$(tr a-z b-za <<<${each(word, (char) => (char === "a" ? "z" : String.fromCharCode(char.charCodeAt(0) - 1)))})`,
  (word) => `{${word},}`,
  (word) => `${word.slice(0, 1)}{${word.slice(1)},}`,
  (word) => `${word.slice(0, -1)}?`,
  (word) => `../bin/${word}`,
  (word) => `../bin/./${word}`,
  (word) => `"../"bin/${word}`,
  (word) => `../bin/${word.slice(0, 2)}*`,
  (word) => `../bin/${word.slice(0, 1)}[${word.slice(1, 2)}]${word.slice(2)}`,
  (word) => `~/../bin/${word}`,
  (word) => `$PWD/../bin/${word}`,
];

/** Ways to run a command line within another one. */
const WRAPPERS: readonly ((inner: string) => string)[] = [
  (inner) => `sh -c ${quoted(inner)}`,
  (inner) => `bash -c ${doubleQuoted(inner)}`,
  (inner) => `bash -ec ${quoted(inner)}`,
  (inner) => `bash --norc -c ${quoted(inner)}`,
  (inner) => `sh -c 'eval "$1"' x ${quoted(inner)}`,
  (inner) => `sh -c '"$@"' x ${inner}`,
  (inner) => `bash <<<${quoted(inner)}`,
  (inner) => `sh <<'END'\n${inner}\nEND`,
  (inner) => `sh <<END\n${inner}\nEND`,
  (inner) => `sh <<-END\n\t${inner}\n\tEND`,
  (inner) => `cat <<END\n$(${inner})\nEND`,
  (inner) => `cat <<'END'\n$(${inner})\nEND`,
  (inner) => `echo ${quoted(inner)} | sh`,
  (inner) => `printf '%s\\n' ${quoted(inner)} | bash`,
  (inner) => `printf '%b' ${quoted(each(inner, (char) => `\\0${octal(char)}`))} | sh`,
  (inner) => `echo ${Buffer.from(inner).toString("base64")} | base64 -d | sh`,
  (inner) => `base64 -d <<<${Buffer.from(inner).toString("base64")} | sh`,
  (inner) => `rev <<<${quoted(reversed(inner))} | sh`,
  (inner) => `eval ${inner}`,
  (inner) => `eval ${quoted(inner)}`,
  (inner) => `eval "$(echo ${quoted(inner)})"`,
  (inner) => `eval "$(base64 -d <<<${Buffer.from(inner).toString("base64")})"`,
  (inner) => `x=${quoted(inner)}; eval "$x"`,
  (inner) => `x=${quoted(inner)}; $x`,
  (inner) => `x=${quoted(inner)} sh -c '$x'`,
  (inner) => `export x=${quoted(inner)}; sh -c 'eval $x'`,
  (inner) => `read -r x <<<${quoted(inner)}; $x`,
  (inner) => `printf -v x %s ${quoted(inner)}; eval "$x"`,
  (inner) => `mapfile -t x <<<${quoted(inner)}; eval "\${x[0]}"`,
  (inner) => `x=(${inner}); "\${x[@]}"`,
  (inner) => `set -- ${inner}; "$@"`,
  (inner) => `declare x=${quoted(inner)}; declare -n y=x; $y`,
  (inner) => `for x in ${quoted(inner)}; do $x; done`,
  (inner) => `for x in 1; do ${inner}; done`,
  (inner) => `while ${inner}; do break; done`,
  (inner) => `until ${inner}; do break; done`,
  (inner) => `if true; then ${inner}; fi`,
  (inner) => `if ! ${inner}; then :; fi`,
  (inner) => `case x in x) ${inner};; esac`,
  (inner) => `case $(${inner}) in *) :;; esac`,
  (inner) => `f() { ${inner}; }; f`,
  (inner) => `function f { ${inner}; }; f`,
  (inner) => `f() (${inner}); f`,
  (inner) => `ls() { ${inner}; }; ls`,
  (inner) => `alias x=${quoted(inner)}; eval x`,
  (inner) => `shopt -s expand_aliases\nalias ls=${quoted(inner)}\nls`,
  (inner) => `trap ${quoted(inner)} EXIT`,
  (inner) => `trap ${quoted(inner)} DEBUG; :`,
  (inner) => `trap ${quoted(inner)} ERR; false`,
  (inner) => `echo $(${inner})`,
  (inner) => `echo "$(${inner})"`,
  (inner) => `echo "\`${inner.replace(/[`\\]/g, "\\$&")}\`"`,
  (inner) => `echo '$(${inner.replaceAll("'", "")})'`,
  (inner) => `echo \${x:-$(${inner})}`,
  (inner) => `echo "\${x:=$(${inner})}"`,
  (inner) => `echo $(( $(${inner} >/dev/null; echo 1) + 1 ))`,
  (inner) => `(( x[$(${inner} >/dev/null; echo 0)] ))`,
  (inner) => `x='a[$(${inner.replaceAll("'", '"')} >&2)]'; (( x ))`,
  (inner) => `[[ -n $(${inner}) ]]`,
  (inner) => `[ "$(${inner})" ]`,
  (inner) => `test -v 'x[$(${inner.replaceAll("'", '"')})]'`,
  (inner) => `x=y; echo \${x/y/$(${inner})}`,
  (inner) => `x=$(${inner})`,
  (inner) => `x=$(${inner}) ls`,
  (inner) => `cat <(${inner})`,
  (inner) => `ls > >(${inner})`,
  (inner) => `. <(echo ${quoted(inner)})`,
  (inner) => `source /dev/stdin <<<${quoted(inner)}`,
  (inner) => `(${inner})`,
  (inner) => `{ ${inner}; }`,
  (inner) => `! ${inner}`,
  (inner) => `time ${inner}`,
  (inner) => `time -p ${inner}`,
  (inner) => `coproc ${inner}`,
  (inner) => `${inner} & wait`,
  (inner) => `command ${inner}`,
  (inner) => `builtin eval ${quoted(inner)}`,
  (inner) => `exec ${inner}`,
  (inner) => `exec -a ls ${inner}`,
  (inner) => `env ${inner}`,
  (inner) => `env -u X A=1 ${inner}`,
  (inner) => `env -i PATH="$PATH" ${inner}`,
  (inner) => `env -S ${quoted(inner)}`,
  (inner) => `nohup ${inner}`,
  (inner) => `nice ${inner}`,
  (inner) => `nice -n 5 ${inner}`,
  (inner) => `timeout 5 ${inner}`,
  (inner) => `timeout -s KILL 5s ${inner}`,
  (inner) => `setsid -w ${inner}`,
  (inner) => `stdbuf -oL ${inner}`,
  (inner) => `ionice -c 3 ${inner}`,
  (inner) => `chrt -o 0 ${inner}`,
  (inner) => `prlimit --nofile=64 ${inner}`,
  (inner) => `flock lock ${inner}`,
  (inner) => `flock lock -c ${quoted(inner)}`,
  (inner) => `script -qc ${quoted(inner)} /dev/null`,
  (inner) => `unshare ${inner}`,
  (inner) => `setpriv ${inner}`,
  (inner) => `xargs ${inner} </dev/null`,
  (inner) => `echo x | xargs ${inner}`,
  (inner) => `echo x | xargs -I{} sh -c ${quoted(inner)}`,
  (inner) => `echo ${quoted(inner)} | xargs -0 sh -c`,
  (inner) => `echo ${quoted(inner)} | xargs -I{} sh -c {}`,
  (inner) => `find a.txt -exec ${inner} \\;`,
  (inner) => `find . -maxdepth 0 -exec sh -c ${quoted(inner)} \\;`,
  (inner) => `find a.txt -execdir sh -c ${quoted(inner)} ';'`,
  (inner) => `find a.txt -ok ${inner} \\; <<<y`,
  (inner) => `awk 'BEGIN { system("${inner.replace(/["\\]/g, "\\$&").replaceAll("'", "'\\''").replaceAll("\n", "\\n")}") }'`,
  (inner) => `awk 'BEGIN { ${quoted('"' + inner.replace(/["\\]/g, "\\$&") + '" | getline').slice(1, -1)} }'`,
  (inner) => `sed -n ${quoted(`1e ${inner.replaceAll("\n", " ")}`)} a.txt`,
  (inner) => `sed ${quoted(`s/.*/${inner.replace(/[/&\\\n]/g, "\\$&")}/e`)} a.txt`,
  (inner) => `python3 -c ${quoted(`import os; os.system(${JSON.stringify(inner)})`)}`,
  (inner) => `perl -e ${quoted(`system(${JSON.stringify(inner).replace(/[$@]/g, "\\$&")})`)}`,
  (inner) => `git -c alias.x=${quoted(`!${inner}`)} x`,
  (inner) => `git -c core.pager=${quoted(inner)} -p log`,
  (inner) => `GIT_PAGER=${quoted(inner)} git -p log`,
  (inner) => `GIT_EXTERNAL_DIFF=${quoted(inner)} git diff`,
  (inner) => `git -c core.fsmonitor=${quoted(inner)} status`,
  (inner) => `git -c diff.external=${quoted(inner)} diff`,
  (inner) => `git ls-remote --upload-pack=${quoted(inner)} .`,
  (inner) => `git ls-remote ext::${quoted(inner.replaceAll(" ", "% "))}`,
  (inner) => `git grep -O${quoted(inner)} a`,
  (inner) => `git bisect start HEAD HEAD~0; git bisect run ${inner}`,
  (inner) => `git submodule foreach ${quoted(inner)}; git rebase -x ${quoted(inner)} --root`,
  (inner) => `tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec=${quoted(inner)} a.txt`,
  (inner) => `tar -cf /dev/null -I ${quoted(inner)} a.txt`,
  (inner) => `sort --compress-program=${quoted(inner)} -S 1 big.txt`,
  (inner) => `split -n 1 --filter=${quoted(inner)} a.txt`,
  (inner) => `make -f - <<<${quoted(`x:\n\t${inner}`)}`,
  (inner) => `make -f - <<<${quoted(`$(shell ${inner})`)}`,
  (inner) => `make --eval=${quoted(`$(shell ${inner})`)} -n`,
  (inner) => `PS4='$(${inner.replaceAll("'", "")})' bash -xc :`,
  (inner) => `BASH_ENV=<(echo ${quoted(inner)}) bash -c :`,
  (inner) => `ENV=x PROMPT_COMMAND=${quoted(inner)} bash -ic : </dev/null`,
  (inner) => `compgen -W '$(${inner.replaceAll("'", "")})'`,
  () => "hash -p ../bin/evil ls; ls",
  (inner) => `PATH=.:$PATH; ${inner}`,
  (inner) => `cd ../bin && ./evil; ${inner}`,
  (inner) => `pushd ../bin; ./evil; ${inner}`,
  (inner) => `echo ${inner}`,
  (inner) => `: ${inner}`,
  (inner) => `# ${inner.replaceAll("\n", " ")}`,
  (inner) => `echo x # ${inner.replaceAll("\n", " ")}`,
  (inner) => `grep ${quoted(inner)} a.txt`,
];

/** Neighbours of a command in its line. */
const AROUND: readonly ((inner: string) => string)[] = [
  (inner) => inner,
  (inner) => inner,
  (inner) => inner,
  (inner) => `ls; ${inner}`,
  (inner) => `true && ${inner}`,
  (inner) => `false || ${inner}`,
  (inner) => `ls | ${inner}`,
  (inner) => `${inner} | cat`,
  (inner) => `${inner} 2>/dev/null`,
  (inner) => `2>&1 ${inner}`,
  (inner) => `</dev/null ${inner}`,
  (inner) => `A=1 ${inner}`,
  (inner) => `ls\n${inner}`,
  (inner) => `ls &\n${inner}`,
  (inner) => `ls;\t${inner}`,
];

/** A command line that runs `evil`, or only looks like it. */
export function hiding(random: Random): string {
  let command = `${pick(random, SPELLINGS)("evil")}${random() < 0.5 ? " now" : ""}`;
  for (let depth = 1 + Math.floor(random() * 2.4); depth > 0; depth--) command = pick(random, WRAPPERS)(command);
  return pick(random, AROUND)(command);
}

const READERS = "ls cat head tail wc cut sort tr grep rg find sed uniq pwd echo git".split(" ");
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".split("");
const LONG = (
  "all color recursive output=out.txt out=out.txt files0-from=list files-from=list file=secret.txt exclude-from=.env ignore-file=.env pre=evil " +
  "search-zip hidden no-ignore follow follow=name retry pid=1 compress-program=evil temporary-directory=. debug null-data " +
  "expression=p in-place quiet binary-files=text include=*.env dereference-recursive reference=a.txt hostname-bin=evil help version stat no-pager " +
  "ext-diff textconv no-index open-files-in-pager=evil paginate exec=evil show-signature"
).split(" ");
const OPERANDS = (
  "a.txt big.txt src src/b.ts . .. ../outside.txt link up/outside.txt up .env secret.txt/.. key.pem ~ ~/letter.txt /etc/hostname /dev/stdin - -- *.txt " +
  ".e?v src/../.env ./.env out.txt 1,3p p '1w out.txt' 'r .env' 's/a/b/w out.txt' -name '*.pem' -delete -exec evil -fprint out.txt -fls out.txt -newer .env -files0-from list " +
  "log status diff show HEAD HEAD:a.txt branch new-branch stash config tag v1 main 'a' x"
).split(" ");
const JOINTS = ["; ", " && ", " | ", " || ", "\n", " > out.txt ", " 2> out.txt ", " & "];

/** A command line of programs that mostly read. */
export function reading(random: Random): string {
  const parts = Array.from({ length: 1 + Math.floor(random() * 2) }, () => {
    const name = pick(random, READERS);
    const words = Array.from({ length: Math.floor(random() * 4) }, () => {
      const kind = random();
      if (kind < 0.25) return `-${pick(random, LETTERS)}${random() < 0.4 ? pick(random, LETTERS) : ""}`;
      if (kind < 0.35) return `--${pick(random, LONG)}`;
      const operand = pick(random, OPERANDS);
      return random() < 0.15 && /^[\w./]+$/.test(operand) ? pick(random, [quoted, doubleQuoted])(operand) : operand;
    });
    return [
      name,
      ...(name === "git" ? [pick(random, ["status", "log", "diff", "show", "branch", "grep", "ls-files", "blame"])] : []),
      ...words,
    ].join(" ");
  });
  return parts.join(pick(random, JOINTS));
}
