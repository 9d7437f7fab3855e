import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dialectIds } from "../src/dialects/index.js";
import { scan, sourceFiles, target, type SourceFile } from "./support/source.js";

/** The rooms that each room may import. `index` is the package's front door; only `cli` sees everything. */
const DOORS: Record<string, readonly string[]> = {
  core: ["core"],
  os: ["core", "os"],
  dialects: ["core", "dialects"],
  transports: ["core", "os", "transports"],
  link: ["core", "dialects", "transports", "link"],
  host: ["core", "dialects", "transports", "link", "host"],
  bridge: ["core", "os", "dialects", "transports", "link", "host", "bridge"],
  check: ["core", "dialects", "transports", "link", "check"],
  engine: ["core", "os", "engine"],
  settings: ["core", "os", "settings"],
  index: ["core", "dialects", "transports", "link", "host"],
  cli: ["core", "os", "dialects", "transports", "link", "host", "bridge", "check", "engine", "settings", "cli"],
};

/** One dialect may build on another only where its protocol does. */
const EXTENDS: Record<string, string> = { wayland: "aionrs" };

/** Module-level variables that must be one for the whole process, and why. */
const ONE_FOR_THE_PROCESS: Record<string, string> = {
  "core/ids.ts": "ids keep their order within one process",
  "os/processes/reaper.ts": "one reaper watches everything that we start",
  "os/processes/tree-mark.ts": "looks at all processes are shared, and what sets a limit does not change",
  "engine/tools/search/ripgrep.ts": "where ripgrep lies does not change",
};

const files = sourceFiles();

function room(path: string): string {
  const [first = ""] = path.split("/");
  return first.replace(/\.ts$/, "");
}

function seen(file: SourceFile): string[] {
  return file.imports.filter((from) => from.startsWith(".")).map((from) => target(file, from));
}

/** "file → what it sees", for what is not allowed. */
function breaches(where: (file: SourceFile) => boolean, allowed: (path: string, file: SourceFile) => boolean): string[] {
  return files.filter(where).flatMap((file) =>
    seen(file)
      .filter((path) => !allowed(path, file))
      .map((path) => `${file.path} → ${path}`),
  );
}

describe("doors", () => {
  test("every room has doors", () => {
    expect([...new Set(files.map((file) => room(file.path)))].filter((name) => !(name in DOORS))).toEqual([]);
    expect(files.length).toBeGreaterThan(50);
  });

  test("the plan in CONTRIBUTING.md names every room", () => {
    const plan = readFileSync(join(import.meta.dirname, "../CONTRIBUTING.md"), "utf8").split("```")[1] ?? "";
    const folders = files.flatMap(({ path }) =>
      path
        .split("/")
        .slice(0, -1)
        .slice(0, path.startsWith("dialects/") ? 2 : undefined),
    );
    expect([...new Set(folders)].filter((folder) => !plan.includes(`${folder}/`))).toEqual([]);
  });

  test.each(Object.keys(DOORS))("%s sees only what it may see", (name) => {
    expect(
      breaches(
        (file) => room(file.path) === name,
        (path) => DOORS[name]?.includes(room(path)) === true,
      ),
    ).toEqual([]);
  });

  test("a dialect sees core, its own folder, the kit and what a dialect is; no other dialect", () => {
    const folder = (path: string): string => path.split("/")[1] ?? "";
    const isDialect = (file: SourceFile): boolean => /^dialects\/[^/]+\//.test(file.path) && folder(file.path) !== "kit";
    expect(
      breaches(isDialect, (path, file) => {
        if (room(path) === "core" || path === "dialects/dialect.ts" || path.startsWith("dialects/kit/")) return true;
        return [folder(file.path), EXTENDS[folder(file.path)]].includes(folder(path));
      }),
    ).toEqual([]);
    expect(
      breaches(
        (file) => file.path.startsWith("dialects/kit/"),
        (path) => room(path) === "core" || path === "dialects/dialect.ts" || path.startsWith("dialects/kit/"),
      ),
    ).toEqual([]);
  });

  test("no room but dialects names a dialect, and only a bridge knows one: AgentProc, which is its own protocol", () => {
    // Requirements are data about one protocol each, and their list says which.
    const outside = files.filter((file) => room(file.path) !== "dialects" && !file.path.startsWith("check/requirements/"));
    const names = new Set([...dialectIds, ...dialectIds.map((id) => id.replace(/@.*/, ""))]);
    expect(
      outside.flatMap((file) =>
        file.strings
          .filter(({ text }) => names.has(text) || names.has(text.replace(/@.*/, "")))
          // A family of models has the name of a program, too.
          .filter(({ text }) => text !== "claude" || !file.path.startsWith("engine/models/"))
          .map(({ text, line }) => `${file.path}:${line} ${text}`),
      ),
    ).toEqual([]);
    const knows = (path: string): boolean => /^dialects\/(?!kit\/)[^/]+\//.test(path);
    expect(
      breaches(
        (file) => room(file.path) !== "dialects",
        (path, file) => !knows(path) || file.path === "bridge/protocol.ts",
      ),
    ).toEqual([]);
  });

  test("a dialect's folder has its program, its value and its coverage at the top, and below only the wire and the two sides", () => {
    const below = files.map(({ path }) => path).filter((path) => /^dialects\/(?!kit\/)[^/]+\//.test(path));
    const names = below.map((path) => path.replace(/^dialects\/[^/]+\//, ""));
    expect(names.filter((name) => !/^(index|launch|coverage|wire)\.ts$|^(wire|agent|host)\/[^/]+$/.test(name))).toEqual([]);
    const folders = [...new Set(below.map((path) => path.split("/")[1] ?? ""))];
    expect(folders.length).toBeGreaterThanOrEqual(7);
    expect(folders.filter((folder) => !["index.ts", "launch.ts"].every((name) => below.includes(`dialects/${folder}/${name}`)))).toEqual(
      [],
    );
  });

  test("dialects and core do no input or output: they import no builtin of Node", () => {
    const pure = files.filter((file) => ["dialects", "core"].includes(room(file.path)));
    expect(pure.flatMap((file) => file.imports.filter((from) => from.startsWith("node:")).map((from) => `${file.path} → ${from}`))).toEqual(
      [],
    );
  });

  test("builtins of Node are named as such", () => {
    const bare =
      /^(assert|buffer|child_process|crypto|events|fs|http|https|net|os|path|process|readline|stream|timers|url|util|zlib)(\/|$)/;
    expect(files.flatMap((file) => file.imports.filter((from) => bare.test(from)).map((from) => `${file.path} → ${from}`))).toEqual([]);
  });
});

describe("rules of the house", () => {
  test("nothing is of type any", () => {
    expect(files.flatMap((file) => file.anys.map((line) => `${file.path}:${line}`))).toEqual([]);
  });

  test("a comment names its subject: no sentence begins with a pronoun for one", () => {
    const nameless = /(^|[.!?] )(What|Who|Whoever|Whose|One that|Such|Those)\b/;
    const found = files.flatMap((file) =>
      file.comments.filter(({ text }) => nameless.test(text)).map(({ text, line }) => `${file.path}:${line} ${text}`),
    );
    expect(found).toEqual([]);
  });

  test("readline never reads a protocol: only the command line asks a person with it", () => {
    const uses = files.flatMap((file) => file.imports.filter((from) => from.includes("readline")).map((from) => `${file.path} → ${from}`));
    expect(uses.filter((use) => !/^cli\/.* → node:readline(\/promises)?$/.test(use))).toEqual([]);
  });

  test("state belongs to somebody: a module-level variable has a reason", () => {
    const lets = files.filter((file) => file.lets.length > 0).map((file) => file.path);
    expect(lets.filter((path) => !(path in ONE_FOR_THE_PROCESS))).toEqual([]);
    expect(Object.keys(ONE_FOR_THE_PROCESS).filter((path) => !lets.includes(path))).toEqual([]);
  });

  test("child processes are started in one room", () => {
    const spawning = files
      .filter((file) => file.imports.includes("node:child_process") && room(file.path) !== "cli")
      .map((file) => room(file.path));
    expect([...new Set(spawning)]).toEqual(["os"]);
  });
});

test("the scanner sees every way to import, and what must not be there", () => {
  const file = scan(
    "engine/x.ts",
    `import a from "./a.js"; import type { B } from "../b.js"; import "./c.js"; export * from "./d.js"; export { e } from "./e.js";
     const f = await import("../link/f.js"); type G = import("./g.js").G; /* import "./not.js" */ const text = 'import "./not.js": any';
     let one = 1; export let two: unknown = 2; const three = () => { let inner: any = 1; return inner as any; };`,
  );
  expect(file.imports.toSorted()).toEqual(["../b.js", "../link/f.js", "./a.js", "./c.js", "./d.js", "./e.js", "./g.js"]);
  expect(target(file, "../link/f.js")).toBe("link/f.ts");
  expect(file.lets).toEqual(["one", "two"]);
  expect(file.anys).toEqual([3, 3]);
  expect(scan("cli/y.ts", 'const ids = { "a": `b`, c: d["e@1"] };').strings.map(({ text }) => text)).toEqual(["a", "b", "e@1"]);
  const { comments } = scan("cli/z.ts", "/** One.\n * Two. */\nlet a = 1; // Three");
  expect(comments).toEqual([
    { text: "One. Two.", line: 1 },
    { text: "Three", line: 3 },
  ]);
});
