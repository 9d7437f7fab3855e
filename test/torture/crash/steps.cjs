/**
 * Preloaded into the command (`node --require`): names each step that it takes on the disk and with processes, in the order in which it
 * takes them, and kills the process with -9 at the one that it is told. The command itself knows nothing of it.
 *
 * `PARLEY_STEPS_TRACE=FILE` writes a line for each step. `PARLEY_STEPS_KILL="NAME|COUNT|MOMENT"` kills at the COUNTth step of that name:
 * `before` it, `half` way through it where it is a write, or `after` it. A system's error code (`ENOSPC`) as the moment kills nothing: from
 * that step on every step that needs the disk fails with it.
 */
const fs = require("node:fs");
const promises = require("node:fs/promises");
const childProcess = require("node:child_process");

const { PARLEY_STEPS_TRACE: trace, PARLEY_STEPS_KILL: kill = "" } = process.env;
const [wanted, count, moment] = kill.split("|");
let met = 0;
/** The error code with which the disk fails from now on. */
let failing;
/** Kinds of files by descriptor. */
const opened = new Map();
const original = { ...fs };

const die = () => process.kill(process.pid, "SIGKILL");

/** What kind of file this is; undefined for those that are no steps. */
function kindOf(path) {
  const text = String(path);
  if (!text.includes("/sessions/")) return text.endsWith("/kept.txt") ? "file" : undefined;
  if (text.endsWith("log.jsonl")) return "log";
  if (/\/lock[^/]*$/.test(text)) return "lock";
  if (/\/snapshot\.\w+$/.test(text)) return "snapshot";
  if (text.includes("/files/")) return "copy";
  return undefined;
}

/** The names of the entries that a write to the log holds. */
function entriesIn(data) {
  return String(data)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      try {
        const { kind, event } = JSON.parse(line);
        return kind === "event" ? event.type : kind;
      } catch {
        return "damaged";
      }
    });
}

/** Returns the moment at which to die in this step, if it is the one. */
function step(name) {
  if (trace !== undefined) original.appendFileSync(trace, `${name}\n`);
  const isDue = name === wanted && ++met === Number(count);
  if (isDue && /^E[A-Z]+$/.test(moment)) failing = moment;
  if (failing !== undefined && !/ (sync|cut|remove)$/.test(name)) {
    throw Object.assign(new Error(`${failing}: a fault on purpose, ${name}`), { code: failing, syscall: name });
  }
  return isDue ? moment : undefined;
}

function synchronous(name, nameOf, half) {
  const real = fs[name];
  fs[name] = (...args) => {
    const named = nameOf(args);
    const due = named === undefined ? undefined : firstDue(named);
    if (due === "before") die();
    if (due === "half") half(real, args);
    const result = real(...args);
    if (due === "after") die();
    if (name === "openSync" && kindOf(args[0]) !== undefined) opened.set(result, kindOf(args[0]));
    return result;
  };
}

/** One write may be several steps: it is due if any of them is. */
function firstDue(names) {
  const dues = (Array.isArray(names) ? names : [names]).map(step);
  return dues.find((due) => due !== undefined);
}

function asynchronous(owner, name, nameOf, half) {
  const real = owner[name];
  owner[name] = async function (...args) {
    const named = nameOf.call(this, args);
    const due = named === undefined ? undefined : firstDue(named);
    if (due === "before") die();
    if (due === "half") await half.call(this, real, args);
    const result = await real.apply(this, args);
    if (due === "after") die();
    return result;
  };
}

const named =
  (what) =>
  ([path]) =>
    kindOf(path) === undefined ? undefined : `${kindOf(path)} ${what}`;
const target =
  (what) =>
  ([, path]) =>
    kindOf(path) === undefined ? undefined : `${kindOf(path)} ${what}`;
const written = ([path, , options]) =>
  kindOf(path) === undefined || !/^[wa]/.test(options?.flag ?? "w") ? undefined : `${kindOf(path)} write`;

synchronous("openSync", ([path, flags]) => (/[wa+]/.test(String(flags ?? "r")) ? named("open")([path]) : undefined));
synchronous(
  "writeSync",
  ([fd, data]) => (opened.get(fd) === "log" ? entriesIn(data).map((entry) => `log ${entry}`) : undefined),
  (real, [fd, data]) => {
    const bytes = Buffer.from(data);
    real(fd, bytes.subarray(0, Math.ceil(bytes.length / 2)));
    die();
  },
);
synchronous("ftruncateSync", ([fd]) => (opened.get(fd) === "log" ? "log cut" : undefined));
{
  const real = fs.fdatasync;
  fs.fdatasync = (fd, done) => {
    const due = opened.has(fd) ? step(`${opened.get(fd)} sync`) : undefined;
    if (due === "before") die();
    real(fd, (error) => {
      if (due === "after") die();
      done(error);
    });
  };
}
const halfFile = async (real, [path, data, options]) => {
  const bytes = Buffer.from(data);
  await real(path, bytes.subarray(0, Math.ceil(bytes.length / 2)), options);
  die();
};
asynchronous(promises, "writeFile", written, halfFile);
asynchronous(promises, "rename", target("rename"));
asynchronous(promises, "link", target("link"));
asynchronous(promises, "rm", named("remove"));
asynchronous(promises, "open", ([path, flags]) => (/[wa+]/.test(String(flags ?? "r")) ? named("open")([path]) : undefined));

const spawn = childProcess.spawn;
childProcess.spawn = (file, args, ...rest) => {
  const isTool = args.some((arg) => arg.includes("ran.txt"));
  const due = isTool ? step("tool spawn") : undefined;
  if (due === "before") die();
  const child = spawn(file, args, ...rest);
  if (due === "after") die();
  return child;
};
