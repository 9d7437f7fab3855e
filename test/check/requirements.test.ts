import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { manifests } from "../../src/check/requirements/index.js";
import { scan } from "../support/source.js";

const TESTS = join(import.meta.dirname, "..");

/** Folders whose tests are about another dialect than their name says. */
const ABOUT: Record<string, string> = { bridge: "agentproc" };
/** A manifest that builds on another one: its tests may cite that, too. */
const BUILDS_ON: Record<string, string> = { wayland: "aionrs" };

/** Ids stand at the beginning of a title or of a part of it: `A4: …`, `R10, Q21: …`, `N10: …; N8: …`. */
function cited(title: string): string[] {
  return [...title.matchAll(/(?:^|[;,] )([A-Z]\d{1,2}(?:, [A-Z]\d{1,2})*): /g)].flatMap(([, ids = ""]) => ids.split(", "));
}

interface Citation {
  id: string;
  folder: string;
  place: string;
}

const citations: Citation[] = readdirSync(TESTS, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".test.ts") && path.includes("/") && !path.startsWith("check/"))
  .flatMap((path) =>
    scan(path, readFileSync(join(TESTS, path), "utf8")).strings.flatMap(({ text, line }) =>
      cited(text).map((id) => ({ id, folder: path.split("/")[0] ?? "", place: `${path}:${line} ${id}` })),
    ),
  );

const all = manifests.flatMap(({ dialect, requirements }) => requirements.map((requirement) => ({ dialect, ...requirement })));

describe("the requirements of the dialects", () => {
  test("each id is one requirement's, in any dialect", () => {
    const ids = all.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.length).toBeGreaterThan(300);
  });

  test("each says where it stands, and is a sentence", () => {
    expect(all.filter(({ source, title }) => !/^\S.*: \S/.test(source) || !/^[A-Z`].*\.$/.test(title))).toEqual([]);
  });

  test("each id that a test cites is a requirement of the dialect that the test is about", () => {
    const known = (folder: string): Set<string> => {
      const dialect = ABOUT[folder] ?? folder;
      return new Set(all.filter((row) => row.dialect === dialect || row.dialect === BUILDS_ON[dialect]).map(({ id }) => id));
    };
    expect(citations.filter(({ id, folder }) => !known(folder).has(id)).map(({ place }) => place)).toEqual([]);
  });

  test("each must is cited by a test", () => {
    const ids = new Set(citations.map(({ id }) => id));
    expect(all.filter(({ id, level }) => level === "must" && !ids.has(id)).map(({ id, title }) => `${id} ${title}`)).toEqual([]);
  });
});
