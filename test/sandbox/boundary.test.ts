/** Commands in the sandbox that try to get out: what they can read, change and reach. By the built command. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { PARLEY } from "../process/harness.js";
import { until } from "../support/processes.js";
import { begin, fill, NO_SANDBOX, place, resultOf, results } from "./harness.js";

const SECRET = "sesame-open-sesame";

function repository(): string {
  const cwd = place({ "a.txt": "a\n" });
  const git = (...args: string[]): unknown => execFileSync("git", ["-C", cwd, ...args], { env: { PATH: process.env["PATH"], HOME: cwd } });
  git("init", "-q");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.com");
  return cwd;
}

/** A server of this machine; `path` begins with NUL for an abstract socket. */
async function listening(path?: string): Promise<{ port: number; visits: () => number }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.end();
  });
  await new Promise<void>((resolve) => {
    if (path === undefined) server.listen(0, "127.0.0.1", resolve);
    else server.listen(path, resolve);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, visits: () => visits };
}

describe.skipIf(NO_SANDBOX !== undefined)("a command in the sandbox", () => {
  test("writes in the workspace and in a temporary folder of its own, and nowhere else", async () => {
    const [cwd, home, parley, other] = [place(), place(), place(), place()];
    symlinkSync(other, join(cwd, "link"));
    const [inside, outside, linked, kept] = await results(
      [
        "echo 1 > in.txt && mkdir -p d && echo 2 > d/in.txt && echo 3 > /tmp/t && cp /tmp/t t.txt && mktemp >/dev/null && echo fine",
        `for at in ~ "$PARLEY_HOME" ${other} ${join(cwd, "..")} /etc /usr/bin /var/lib /dev/shm/../.. /run; do echo x > $at/escaped; done; echo 'echo hacked' >> ~/.bashrc; rm -rf ${other}/keep`,
        "echo x > link/escaped",
        "cat /tmp/t; echo $TMPDIR",
      ],
      { cwd, env: { HOME: home, PARLEY_HOME: parley } },
    );
    expect(inside).toBe("Exit code: 0\nSTDOUT:\nfine");
    expect(readFileSync(join(cwd, "t.txt"), "utf8")).toBe("3\n");
    expect(outside).not.toContain("STDOUT");
    expect(linked).toContain("Read-only file system");
    for (const folder of [home, parley, other, join(cwd, ".."), "/etc", "/usr/bin", "/var/lib", "/", "/run"]) {
      expect(existsSync(join(folder, "escaped")), folder).toBe(false);
    }
    expect(existsSync(join(home, ".bashrc"))).toBe(false);
    expect(existsSync("/tmp/t")).toBe(false);
    expect(kept).toContain("3\n/tmp");
  });

  test("writes where the config adds it, sees what the config shows, and does not see what it hides", async () => {
    const [home, data] = [place({ ".ssh/known_hosts": "hosts", ".ssh/id": SECRET }), place({ "kept/a": "a" })];
    const cwd = place({ ".env": SECRET, "deep/er/.env": SECRET });
    const config = { sandbox: { write: [data], read: ["~/.ssh/known_hosts"], hide: [".env", "deep/er"] } };
    const parley = place({ "config.yaml": stringify(config) });
    const [wrote, shown, hid, moved] = await results(
      [
        `echo 1 > ${data}/b && cat ${data}/kept/a`,
        "cat ~/.ssh/known_hosts; ls ~/.ssh",
        "cat .env; ls -A deep/er; echo x > .env",
        "mv deep gone; mv .env gone",
      ],
      { cwd, env: { HOME: home, PARLEY_HOME: parley } },
    );
    expect(wrote).toBe("Exit code: 0\nSTDOUT:\na");
    expect(readFileSync(join(data, "b"), "utf8")).toBe("1\n");
    expect(shown).toBe("Exit code: 0\nSTDOUT:\nhostsknown_hosts");
    expect(hid).not.toContain(SECRET);
    expect(hid).toContain("Read-only file system");
    expect(moved).toContain("busy");
    expect(readFileSync(join(cwd, ".env"), "utf8")).toBe(SECRET);
  });

  test("does not see keys, logins, PARLEY_HOME, sockets or variables that lead to them", async () => {
    const names = [".ssh/id_rsa", ".aws/credentials", ".config/gcloud/x", ".netrc", ".npmrc", ".docker/config.json", ".kube/config"];
    const home = place(Object.fromEntries(names.map((name) => [name, SECRET])));
    const parley = place({ credentials: SECRET, "skills/greet/run.sh": "echo hello" });
    // The words of the commands do not name what is protected.
    const [read, search, env, skill] = await results(
      [
        `cd; for name in .s*h/id_rsa .a*s/credentials .co*g/gcloud/x .net*c .np*c .dock*r/config.json .ku*e/config; do cat $name; done; cat ${parley.slice(0, -1)}?/cred*`,
        `grep -rs ${SECRET.slice(0, 10)} ~/ ${join(parley, "..")}/ | grep -v script.yaml; ls /run /var/run /tmp/.X11-unix /tmp/ssh-* 2>/dev/null; ls /dev`,
        "env; ls -l /proc/self/fd",
        `sh ${parley.slice(0, -1)}?/skills/greet/run.sh`,
      ],
      {
        env: {
          HOME: home,
          PARLEY_HOME: parley,
          SSH_AUTH_SOCK: "/run/agent.sock",
          DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/bus",
          OPENAI_API_KEY: "sk-0123456789abcdef",
        },
      },
    );
    expect(read).not.toContain(SECRET);
    expect(search).not.toContain(SECRET);
    expect(search).not.toMatch(/\.sock|agent|vda|kmsg|\bmem\b/);
    expect(env).not.toMatch(/AUTH_SOCK|DBUS|sk-0123/);
    // The list itself is the fourth.
    expect(env?.match(/ \d+ -> /g)?.length).toBe(4);
    expect(skill).toBe("Exit code: 0\nSTDOUT:\nhello");
  });

  test("commits, and changes nothing that git, Parley, editors or shells run later", async () => {
    const cwd = repository();
    fill(cwd, { ".vscode/tasks.json": "{}", ".github/workflows/ci.yml": "on: push", ".bashrc": "", ".envrc": "" });
    rmSync(join(cwd, ".git/hooks"), { recursive: true });
    const tries = [
      "git add a.txt && git commit -qm first && git log --oneline | wc -l",
      "echo x > .git/hooks/pre-commit",
      "git config core.fsmonitor /tmp/x",
      "mv .git old || (mkdir -p .git2 && rm -rf .git)",
      "rm .git/config; ln -sf /tmp/c .git/config",
      "mkdir -p .par* && cd .par* && echo x > conf",
      "cd .vscode && echo x > tasks.json; cd ..; mv .github gh; echo x >> .bashrc; rm -f .envrc",
    ];
    const [committed, ...refused] = await results(tries, { cwd });
    expect(committed).toBe("Exit code: 0\nSTDOUT:\n1");
    for (const [at, text] of refused.entries()) expect(text, tries[at + 1]).toMatch(/^Exit code: [1-9]/);
    expect(existsSync(join(cwd, ".git/hooks/pre-commit"))).toBe(false);
    expect(readFileSync(join(cwd, ".git/config"), "utf8")).not.toContain("fsmonitor");
    expect(readFileSync(join(cwd, ".vscode/tasks.json"), "utf8")).toBe("{}");
    expect(existsSync(join(cwd, ".github/workflows/ci.yml")) && existsSync(join(cwd, ".envrc"))).toBe(true);
    expect(readdirSync(join(cwd, ".parley")), "the folder that was made to be kept").toEqual([]);
  });

  test("cannot point a worktree's .git file elsewhere", async () => {
    const [main, cwd] = [repository(), place()];
    execFileSync("git", ["-C", main, "commit", "-q", "--allow-empty", "-m", "x"], { env: { PATH: process.env["PATH"], HOME: main } });
    rmSync(cwd, { recursive: true });
    execFileSync("git", ["-C", main, "worktree", "add", "-q", cwd]);
    const [read, changed] = await results(["git status --short; git log --oneline | wc -l", "echo 'gitdir: /tmp/x' > .git; mv .git x"], {
      cwd,
    });
    expect(read).toBe("Exit code: 0\nSTDOUT:\n1");
    expect(changed).toMatch(/Read-only[^]*busy/);
  });

  test("leads git to no other configuration by a file that comes up", async () => {
    const cwd = repository();
    fill(cwd, { "evil/config": "[core]\n\tfsmonitor = touch ran\n", "evil/HEAD": "ref: refs/heads/main\n" });
    mkdirSync(join(cwd, "evil/objects"));
    mkdirSync(join(cwd, "evil/refs"));
    const host = await begin(
      [
        "echo ../evil > .git/commondir; echo x > .git/config.worktree",
        "ls .git",
        "while :; do echo ../evil > .git/commondir; sleep 0.05; done &",
      ],
      {
        cwd,
      },
    );
    await until(() => existsSync(join(cwd, ".git/commondir")));
    expect(resultOf(host, "c1")).not.toMatch(/commondir|worktree/);
    expect(await host.finish()).toBe(0);
    expect(existsSync(join(cwd, ".git/commondir"))).toBe(false);
  });

  test("is made by the system's own bubblewrap, not by one that a command has put on the PATH", async () => {
    const cwd = place({ "bin/bwrap": "#!/bin/sh\ntouch $HOME/escaped\nexit 0\n", "bin/prlimit": "#!/bin/sh\ntouch $HOME/escaped\n" });
    const home = place();
    for (const name of ["bwrap", "prlimit"]) chmodSync(join(cwd, "bin", name), 0o755);
    const [result] = await results(["echo x > ../escaped"], { cwd, env: { HOME: home, PATH: `${cwd}/bin:${process.env["PATH"] ?? ""}` } });
    expect(result).toContain("Read-only file system");
    expect(existsSync(join(home, "escaped"))).toBe(false);
  });

  test("reaches no network: not the internet's, not this machine's, not by an abstract socket", async () => {
    const name = `\0parley-test-${process.pid}-${Date.now()}`;
    const [tcp, abstract] = [await listening(), await listening(name)];
    const connect = (target: string): string =>
      `node -e 'require("net").connect(${target}).on("connect",()=>console.log("reached")).on("error",(e)=>console.log(e.code))'`;
    const [host, socket, interfaces] = await results([
      connect(`${tcp.port}, "127.0.0.1"`),
      connect(`"\\0${name.slice(1)}"`),
      "cat /proc/net/dev | tail -n +3 | cut -d: -f1",
    ]);
    expect(host).toContain("ECONNREFUSED");
    expect(socket).toContain("ECONNREFUSED");
    expect([tcp.visits(), abstract.visits()]).toEqual([0, 0]);
    expect(interfaces).toMatch(/^Exit code: 0\nSTDOUT:\n +lo$/);
  });

  test("has no rights over the system, not even as root", async () => {
    const before = readFileSync("/proc/sys/kernel/core_pattern", "utf8");
    const [kernel, mounts, caps] = await results([
      "echo x > /proc/sys/kernel/core_pattern; echo x > /proc/sysrq-trigger; echo 1 > /proc/sys/vm/drop_caches",
      "umount /run; umount -l /tmp; mount -t tmpfs none /mnt; mount -o remount,rw /; unshare -Ur mount -o remount,rw / ; chroot / true; mknod /tmp/sda b 8 0",
      "grep -E '^Cap(Eff|Prm|Bnd)|^NoNewPrivs' /proc/self/status | tr -s '\\t 0'",
    ]);
    expect(readFileSync("/proc/sys/kernel/core_pattern", "utf8")).toBe(before);
    expect(kernel).toMatch(/^Exit code: [1-9]/);
    expect(mounts).toMatch(/^Exit code: [1-9]/);
    expect(mounts).not.toContain("STDOUT");
    expect(caps).toBe("Exit code: 0\nSTDOUT:\nCapPrm:\t0\nCapEff:\t0\nCapBnd:\t0\nNoNewPrivs:\t1");
  });

  test("tells its last folder, and no other file by that way", async () => {
    const home = place({ ".ssh/id": SECRET, "letter.txt": "a private letter" });
    const cwd = place({ "sub/a": "" });
    const swap = (target: string): string =>
      `cd sub; trap - EXIT; own=$(basename /tmp/parley-sandbox-*); for n in 1 2 3; do ln -sf ${target} /tmp/.$own-folder-$n; done`;
    const [moved, linked, piped, folder] = await results(
      [
        "cd sub",
        swap(join(home, "letter.txt")),
        "cd ..; trap - EXIT; own=$(basename /tmp/parley-sandbox-*); rm -f /tmp/.$own-folder-3; mkfifo /tmp/.$own-folder-3 && echo piped",
        "cd /tmp; pwd",
      ],
      { cwd, env: { HOME: home } },
    );
    expect(moved).toBe(`Exit code: 0\nThe next command begins in ${cwd}/sub.`);
    expect(linked).not.toContain("private");
    expect(piped).toContain("piped");
    expect(folder).toContain("/tmp lies outside the workspace");
  });

  test("is told its whole output by a file that it can read and not change", async () => {
    const [long, shown] = await results(["seq 1 30000", "f=$(ls -d /tmp/parley-sandbox-*/outputs/*.log); tail -1 $f; echo x >> $f"]);
    expect(long).toContain("Whole output: ");
    expect(shown).toMatch(/30000\nSTDERR:\n.*Read-only file system/);
  });

  test("gets no file or connection that Parley itself was started with", async () => {
    const [cwd, letter] = [place(), join(place({ letter: "a private letter" }), "letter")];
    const model = join(
      place({ "script.yaml": stringify({ responses: [{ call: { tool: "Bash", args: { command: "cat <&4; cat <&40" }, id: "c0" } }] }) }),
      "script.yaml",
    );
    const command = `exec 4<${letter} 40<${letter}; exec ${process.execPath} ${PARLEY} -p go --yolo --sandbox required --provider rehearsal --model ${model} --output-format stream-json`;
    const said = execFileSync("bash", ["-c", command], {
      cwd,
      env: { PATH: process.env["PATH"], HOME: cwd, PARLEY_HOME: place() },
      encoding: "utf8",
    });
    expect(said).toContain("Bad file descriptor");
    expect(said).not.toContain("private");
  });

  test("works where the workspace is the folder for temporary files", async () => {
    const cwd = place({ "sub/a": "" });
    const [moved, own] = await results(["cd sub && pwd", "cd /; ls -A $TMPDIR/parley-sandbox-*; mv $TMPDIR/parley-sandbox-* x"], {
      cwd,
      env: { TMPDIR: cwd },
    });
    expect(moved).toContain(`The next command begins in ${cwd}/sub.`);
    expect(own).not.toMatch(/empty|proxy/);
    const [seen] = await results(
      ["ls -A; ls -A parley-sandbox-*; mv parley-sandbox-* x; for at in parley-sandbox-*; do echo x > $at/empty; done"],
      {
        cwd,
        env: { TMPDIR: cwd },
      },
    );
    expect(seen).toMatch(/outputs[^]*busy[^]*Read-only/);
    expect(seen).not.toContain("empty\n");
    expect(readdirSync(cwd).toSorted()).toEqual([".parley", "sub"]);
  });

  test("works where the workspace itself lies in the temporary folder", async () => {
    const cwd = join("/tmp", `parley-test-${process.pid}-deep`, "er", "ws");
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, "..", "beside"), SECRET);
    onTestFinished(() => rmSync(join(cwd, "../.."), { recursive: true, force: true }));
    const [wrote, beside, moved] = await results(
      ["echo 1 > a; cat a", "ls -A ..; echo x > ../beside", `mv /tmp/parley-test-${process.pid}-deep /tmp/x`],
      { cwd },
    );
    expect(wrote).toBe("Exit code: 0\nSTDOUT:\n1");
    expect(beside).not.toContain("beside");
    expect(moved).toContain("busy");
    expect(readFileSync(join(cwd, "..", "beside"), "utf8")).toBe(SECRET);
  });
});
