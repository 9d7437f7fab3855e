import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { localWorkspace } from "../workspace/local.js";
import { PROTECTED } from "./protected-paths.js";
import { Protection } from "./protection.js";
import type { RuledCall } from "./ruled-call.js";
import { tempFolder } from "../tools/testing.js";

/** A home with its PARLEY_HOME, named as given, and a workspace in it. */
async function surroundings(name = ".parley"): Promise<{ home: string; root: string; asks(command: string): Promise<boolean> }> {
  const home = realpathSync(await tempFolder());
  const root = join(home, "work");
  mkdirSync(join(home, name, "skills/x"), { recursive: true });
  mkdirSync(join(root, "src"), { recursive: true });
  const workspace = await localWorkspace(root, { env: {} });
  const protection = new Protection({ workspace, env: { HOME: home, PARLEY_HOME: join(home, name), OTHER: join(home, name) } });
  const asks = async (command: string): Promise<boolean> =>
    (await protection.always({ tool: "Bash", category: "exec", args: { command }, paths: [] })) !== undefined;
  return { home, root, asks };
}

describe("a command is asked about that names PARLEY_HOME or what lies in it", () => {
  test.each([
    "echo 'mode: yolo' > ~/.parley/config.yaml",
    "cp evil.yaml ~/.parley/permissions.yaml",
    "rm -rf ~/.parley",
    "sed -i s/a/b/ $HOME/.parley/trust.json",
    'tee "${PARLEY_HOME}/config.yaml" < x',
    'tee "${PARLEY_HOME:-/x}"/config.yaml < x',
    "echo x >> $OTHER/sessions/a/log.jsonl",
    "echo x > ../.parley/config.yaml",
    "echo x > ./src/../../.parley/config.yaml",
    "cd ~ && echo x > .parley/config.yaml",
    "cd ..; cd .parley; echo x > config.yaml",
    "(cd ~/.parley && cat)",
    "git -C ~ add .parley/trust.json",
    "tar xf a.tar -C ~/.parley",
    "tar xf a.tar -C$HOME/.parley",
    "dd if=x of=$HOME/.parley/config.yaml",
    "cp --target-directory=$HOME/.parley x",
    "echo x > ~/.par'le'y/conf\\ig.yaml",
    'echo x > ~/".parley"/config.yaml',
    "echo x > ~/$'\\x2eparley'/config.yaml",
    "echo x > ~/.par*/config.yaml",
    "echo x > ~/.parle[y]/config.yaml",
    "echo x > ~/.parle?/config.yaml",
    "echo x > ~/{.parley,b}/config.yaml",
    "D=.parley; echo x > ~/$D/config.yaml",
    "for f in ~/.parley/config.yaml; do echo x > $f; done",
    "for f in .parley; do echo x > ~/$f/config.yaml; done",
    `for f in ${Array.from({ length: 99 }, (_, at) => `f${at}`).join(" ")} x; do cp $f ~/.parley/$f; done`,
    "bash -c 'echo x > ~/.parley/config.yaml'",
    "bash -c 'cd ~; sh -c \"echo x > .parley/config.yaml\"'",
    "eval 'rm ~/.parley/trust.json'",
    "echo $(cat ~/.parley/history)",
    "cat < ~/.parley/mcp-auth/x.json",
    "python3 - <<'E'\nopen('HERE/.parley/config.yaml', 'w')\nE",
    "python3 -c \"open('HERE/.parley/config.yaml','w')\"",
    "bash <<E\necho x > ~/.parley/config.yaml\nE",
    "echo x > HERE//.parley/./config.yaml",
    "echo x > /proc/self/root/HERE/.parley/config.yaml",
    "echo x > .parley/config.yaml",
    "cd .parley && echo x > config.yaml",
    "ln -s ~/.parley here",
    "echo x > ~/.parley/skills/x/SKILL.md",
    "cp x ~/.parley/skills/x/",
    "cat x | tee ~/.parley/skills/x/run.sh",
    "bash -c 'echo x > ~/.parley/skills/x/run.sh'",
    "cat ~/.parley/skills/../config.yaml",
    // Folders on the way to it
    "rm -rf ~",
    "rm -rf ~/",
    "rm -rf ~/.[a-z]*",
    "mv ~ b",
    "cp -r a/. ~",
    "cp -t ~ a",
    "cp -r .parley ..",
    "mkdir .parley; cp a .parley/",
    "mv a .parley",
    "chmod -R 777 /",
    "sudo chown -R x ..",
    "rsync -a a/ ~/",
    "tar xf a.tar -C ..",
    "unzip a.zip -d ~",
    "find ~ -name config.yaml -delete",
    "find .. -name config.yaml -exec cp a {} +",
    // Links that the command makes
    "ln -s ~ q; echo x > q/.par*/config.yaml",
    "ln -s / q; echo x > q/a",
    "sh -c 'mv ~ b'",
    // Values that are put together
    "x=~/.par; x+=ley; echo z > $x/config.yaml",
    "x=(~/.par ley); echo z > ${x[0]}${x[1]}/config.yaml",
    "export x=~/.par y=ley; echo z > $x$y/config.yaml",
    "echo z > ~/${x:-.parley}/config.yaml",
    "n=PARLEY_HOME; echo z > ${!n}/config.yaml",
    "declare -n n=PARLEY_HOME; echo z > $n/config.yaml",
    "printenv PARLEY_HOME | xargs -I{} cp a {}/config.yaml",
    'python3 -c \'import os; open(os.environ["PARLEY_HOME"]+"/config.yaml","w")\'',
    'awk \'BEGIN{print 1 > ENVIRON["PARLEY_HOME"] "/config.yaml"}\'',
    // Our own commands
    "parley trust",
    "npx agent-parley permissions remove x",
    "env A=1 node dist/parley.js --trust-workspace -p x",
    "sh -c 'parley sessions rm x'",
  ])("%s", async (command) => {
    const { home, asks } = await surroundings();
    expect(await asks(command.replace(/\/?HERE\//, () => `${home}/`))).toBe(true);
  });

  test("also by another name, and by links that were there before", async () => {
    const { home, root, asks } = await surroundings("settings");
    symlinkSync("../settings", join(root, "link"));
    symlinkSync("../settings/skills", join(root, "deep"));
    symlinkSync(join(home, "settings/config.yaml"), join(root, "file"));
    for (const command of [
      "cd ..; echo x > settings/config.yaml",
      "cd ~; cd settings; rm trust.json",
      "echo x > link/config.yaml",
      "echo x > file",
      "rm link/*.yaml",
      "cat deep/../config.yaml",
      "rm -r ../settin*",
      "cd src; cd ../..; rm -r settings",
    ])
      expect.soft(await asks(command), command).toBe(true);
    for (const command of ["ls settings", "echo x > src/config.yaml", "cd ..; ls work"])
      expect.soft(await asks(command), command).toBe(false);
  });
});

describe("a command is asked about that names what shows the secrets of processes", () => {
  test.each([
    "cat /proc/$PPID/environ",
    "tr '\\0' '\\n' < /proc/$PPID/environ",
    'cat "/proc/${PPID}/environ"',
    "cat /proc/$(pgrep parley)/environ",
    "cat /proc/`pgrep parley`/cmdline",
    "strings /proc/*/environ",
    "cat /proc/1/mem",
    "cat /proc/self/environ",
    "cat /proc/1/task/1/environ",
    "cd /proc/$PPID && cat environ",
    "cd /proc; cat 1/environ",
    "for p in /proc/[0-9]*; do cat $p/environ; done",
    "python3 -c 'print(open(\"/proc/1/environ\").read())'",
    "xargs -0 -a /proc/1/environ echo",
    "grep -ra KEY /proc/$PPID",
    "sudo grep -ra KEY /proc/1/",
    "cat /proc/$PPID/*",
    "rg KEY /",
    "ps e",
    "ps axeww",
    "ps eww -p $PPID",
    "ps -p 1 -E",
    "ln -s /proc q; cat q/1/environ",
    "ln -s /proc/$PPID q; cat q/environ",
    "ln -s / q; cat q/proc/1/environ",
    "cat /proc/$PPID/root/proc/1/environ",
    "find /proc/$PPID -type f -exec cat {} +",
  ])("%s", async (command) => {
    expect(await (await surroundings()).asks(command)).toBe(true);
  });
});

test.each([
  "ls",
  "ls ~",
  "ls -la ~/*",
  "cd / && ls",
  "git commit -m 'config.yaml: say what parley does'",
  "cat config.yaml trust.json",
  "echo x > $DIR/config.yaml",
  "cat /proc/cpuinfo /proc/meminfo /proc/self/status",
  "cat ~/.parley-notes",
  "ls /proc/$PID; kill -0 1 && [ -d /proc/1 ]",
  "find / -name x.txt",
  "grep -r x ~",
  "npm test -- --reporter=verbose",
  "find . -name '*.ts' -exec grep -l foo {} +",
  "python3 ~/.parley/skills/x/run.py --fast",
  "~/.parley/skills/x/run.sh",
  "cat ~/.parley/skills/x/SKILL.md",
  "cat > doc.md <<'E'\nSome text, (with) brackets {and} more: a/b/c.\nE",
  "awk '{print $1, $NF}' a.txt | sort -u",
  "cp a b; cp a ./b; mv src/a src/b; rm -rf node_modules dist; chmod +x a.sh; ln -s a b",
  "cp -r src /tmp/x; rm -rf /tmp/x/*; tar cf x.tar src; unzip a.zip -d src; rsync -a src/ dst/",
  'rm -rf "$x"; mv $a $b; echo ${x:-a} ${!x}',
  "find . -name x -delete; find ~ -name x",
  "ps; ps aux; ps -ef; ps -eo pid,etime; ps -o etime -p 1",
  "parley -p hello; parley --version; echo parley trust",
])("nothing is asked about: %s", async (command) => {
  expect(await (await surroundings()).asks(command)).toBe(false);
});

test("a command that is too long or too tangled to be read is asked about, in no time", async () => {
  const { asks } = await surroundings();
  const many = Array.from({ length: 5000 }, (_, at) => `w${at}`).join(" ");
  for (const command of [
    "x".repeat(70_000),
    `echo ${"$[".repeat(600)}`,
    `cat ${many}`,
    `x=${"a".repeat(9000)}; ${"x+=$x;".repeat(99)}`,
    "cd a; cd b; ".repeat(9),
  ])
    expect(await asks(command)).toBe(true);
});

test("every protected file is named in the page on security", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/security.md"), "utf8");
  const shown = (path: string): string => path.replace(/\/$/, "").replace(/\/task\/\*/, "");
  const missing = PROTECTED.flatMap(({ paths }) => paths.map(shown)).filter((path) => !page.includes(`\`${path}\``));
  expect(missing).toEqual([]);
});

test("a folder that is a bare repository, or becomes one, is asked about", async () => {
  const { root, home } = await surroundings();
  const workspace = await localWorkspace(root, { env: {} });
  const protection = new Protection({ workspace, env: { HOME: home } });
  const asks = async (relative: string): Promise<boolean> => {
    const call: RuledCall = { tool: "Write", category: "edit", args: {}, paths: [{ path: join(root, relative), relative }] };
    return (await protection.edited(call)) !== undefined;
  };
  expect(await asks("src/config")).toBe(false);
  expect(await asks("src/HEAD")).toBe(true);
  writeFileSync(join(root, "src/HEAD"), "ref: refs/heads/main\n");
  expect(await asks("src/config")).toBe(false);
  expect(await asks("src/objects/x")).toBe(true);
  for (const name of ["objects", "refs"]) mkdirSync(join(root, "src", name));
  for (const name of ["config", "hooks/post-checkout", "deep/er/file"]) expect.soft(await asks(`src/${name}`), name).toBe(true);
  expect(await asks("other/config")).toBe(false);
});
