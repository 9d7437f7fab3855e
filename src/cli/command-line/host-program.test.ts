import { describe, expect, it, test } from "vitest";
import { inOurWords, hostProgramAsked, hostProgramNamed, programNames, type HostProgram } from "./host-program.js";

const isCommand = (word: string): boolean => word === "serve";

function asked(argv: string[], name?: string): [string | undefined, string | undefined] {
  const found = hostProgramAsked(argv, hostProgramNamed(name), isCommand);
  return [found?.name, found?.dialect];
}

describe("a command line under our own name", () => {
  it.each([
    [["hello"], undefined, undefined],
    [["--json-stream"], "aionrs", "aionrs"],
    [["--json-stream", "--dialect", "wayland"], "wayland-core", "wayland"],
    [["--dialect=wayland", "--json-stream"], "wayland-core", "wayland"],
    [["--json-stream", "--dialect", "aionrs@0.2"], "aionrs", "aionrs"],
    [["--output-format", "stream-json"], undefined, undefined],
    [["-o", "json"], "qwen", "qwen-shipped"],
    [["--dialect", "qwen-shipped"], "qwen", "qwen-shipped"],
    [["serve", "--json-schema", "{}"], undefined, undefined],
    [["--", "--json-stream"], undefined, undefined],
  ])("%j is written for %s", (argv, name, dialect) => {
    expect(asked(argv)).toEqual([name, dialect]);
  });
});

test("a command line under another program's name is written for that program, whatever its words", () => {
  expect(asked(["--output-format", "json"], "/usr/bin/aionrs")).toEqual(["aionrs", "aionrs"]);
  expect(asked([], "qwen.cmd")).toEqual(["qwen", "qwen"]);
  expect(asked(["--channel=SDK"], "qwen")).toEqual(["qwen", "qwen-shipped"]);
});

test("every name is written once, though programs of two dialects have it", () => {
  expect(programNames).toEqual([...new Set(programNames)]);
  expect(programNames).toContain("qwen");
});

describe("in our own words", () => {
  const hostProgram: HostProgram = {
    name: "other",
    dialect: "d",
    shortFlags: new Map([["-x", "--extra"]]),
    flags: [{ name: "extra", value: "V", means: (value) => ["--model", value] }, { name: "idle" }],
    words: new Map([
      ["app-server", ["--json-stream"]],
      ["exec", ["--print=-"]],
      ["exec resume", ["--fork-session", "--resume="]],
    ]),
    lacks: ["cloud"],
    absent: [],
    variables: [["OTHER_MODEL", "--model"]],
    exits: {},
  };

  it("a command of the original is what it means here, once", () => {
    const words = inOurWords(["-x", "m", "app-server", "app-server"], hostProgram, {}, isCommand, () => {});
    expect(words).toEqual(["--dialect", "d", "--model", "m", "--json-stream", "app-server"]);
  });

  it("the value of a command comes with the first plain word, wherever flags stand", () => {
    const words = inOurWords(["exec", "resume", "--idle", "--extra", "m", "ID", "go on"], hostProgram, {}, isCommand, () => {});
    expect(words).toEqual(["--print=-", "--fork-session", "--model", "m", "--resume=ID", "go on"]);
  });

  it("a command that is not served is refused by its name, and elsewhere the word is a word", () => {
    const inWords = (...argv: string[]): string[] => inOurWords(argv, hostProgram, {}, isCommand, () => {});
    expect(inWords("cloud", "list")).toEqual(["--refused", "'other cloud' is not served here"]);
    expect(inWords("exec", "cloud")).toEqual(["--print=-", "cloud"]);
  });

  it("a variable stands for a flag that is not given, and an idle flag is told", () => {
    const told: string[] = [];
    const words = inOurWords(["--idle", "hi"], hostProgram, { OTHER_MODEL: "v" }, isCommand, (flag) => told.push(flag));
    expect([words, told]).toEqual([["--model", "v", "hi"], ["--idle"]]);
  });
});
