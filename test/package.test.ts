/** What strangers install: the files of the package, its scripts, and its bill of materials. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const json = (file: string): unknown => JSON.parse(readFileSync(join(ROOT, file), "utf8"));

const Packed = v.tuple([v.object({ files: v.array(v.object({ path: v.string(), size: v.number() })) })]);

/** Everything that may be in the package. */
const ALLOWED =
  /^(package\.json|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|LICENSE|docs\/[\w.-]+\.(md|svg)|examples\/.+|src\/dialects\/[\w-]+\/README\.md|dist\/.+)$/;
const NOT_IN_DIST = /\.(map|test\.\w+|tsbuildinfo)$|\/code\//;

test("the package has built files, docs and examples, and nothing else", () => {
  const printed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = v.parse(Packed, JSON.parse(printed.toString()));
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(["dist/parley.js", "dist/sbom.cdx.json", "dist/THIRD-PARTY-NOTICES.txt", "SECURITY.md"]));
  expect(paths.filter((path) => !ALLOWED.test(path) || NOT_IN_DIST.test(path))).toEqual([]);
  const machine = paths.filter((path) => /\.(js|json|md|txt|ts)$/.test(path) && readFileSync(join(ROOT, path), "utf8").includes(ROOT));
  expect(machine, "files that name a folder of this machine").toEqual([]);
});

const Manifest = v.object({ scripts: v.record(v.string(), v.string()), dependencies: v.record(v.string(), v.string()) });
const Lock = v.object({
  packages: v.record(
    v.string(),
    v.object({ integrity: v.optional(v.string()), dev: v.optional(v.boolean()), hasInstallScript: v.optional(v.boolean()) }),
  ),
});

test("an install runs no script, and every package is fixed by its hash", () => {
  const { scripts, dependencies } = v.parse(Manifest, json("package.json"));
  expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  expect(Object.keys(dependencies)).toEqual(["@vscode/ripgrep", "valibot"]);
  for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d/);
  const packages = Object.entries(v.parse(Lock, json("package-lock.json")).packages).filter(([place]) => place !== "");
  expect(packages.filter(([, { integrity }]) => integrity?.startsWith("sha512-") !== true).map(([place]) => place)).toEqual([]);
  expect(packages.filter(([, { dev, hasInstallScript }]) => hasInstallScript === true && dev !== true)).toEqual([]);
});

const Bill = v.object({
  bomFormat: v.literal("CycloneDX"),
  specVersion: v.literal("1.6"),
  components: v.array(
    v.object({
      name: v.string(),
      version: v.string(),
      purl: v.pipe(v.string(), v.regex(/^pkg:npm\/.+@.+$/)),
      licenses: v.pipe(v.array(v.unknown()), v.minLength(1)),
      hashes: v.tuple([v.object({ alg: v.literal("SHA-512"), content: v.pipe(v.string(), v.regex(/^[0-9a-f]{128}$/)) })]),
    }),
  ),
});

test("the bill of materials names every package in the bundle and every dependency, with licence and hash", () => {
  const { components } = v.parse(Bill, json("dist/sbom.cdx.json"));
  const named = new Set(components.map(({ name, version }) => `${name} ${version}`));
  const notices = readFileSync(join(ROOT, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
  const bundled = [...notices.matchAll(/^(\S+ \d\S*) \([^)]+\)$/gm)].map(([, package_ = ""]) => package_);
  expect(bundled.length).toBeGreaterThan(10);
  expect(bundled.filter((each) => !named.has(each))).toEqual([]);
  expect([...named].some((each) => each.startsWith("@vscode/ripgrep "))).toBe(true);
});
