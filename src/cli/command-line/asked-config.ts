/** The flags of a session that are no settings. */
import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { SessionConfig } from "../../core/config.js";
import { messageOf } from "../../core/errors.js";
import { programOf, programs } from "../../dialects/index.js";
import type { TextReader } from "../../dialects/kit/program.js";
import { SESSION_ROWS, TEXT_FLAGS } from "../serve/structured-flags.js";
import { texts, usage, type Parsed } from "./flags.js";

export async function askedConfig(parsed: Parsed, dialect: string): Promise<SessionConfig> {
  const rows = SESSION_ROWS.map(({ name, as, session }) => [session, as(parsed, name)] as const);
  const config = v.parse(SessionConfig, Object.fromEntries(rows.filter(([, value]) => value !== undefined)));
  const read: SessionConfig[] = [];
  for (const { name } of TEXT_FLAGS) for (const value of texts(parsed, name)) read.push(await configIn(name, value, dialect));
  return [config, ...read].reduce(joined);
}

/** Lists of several flags are joined, and so are servers. */
function joined(one: SessionConfig, other: SessionConfig): SessionConfig {
  const both = <T>(first: readonly T[] | undefined, second: readonly T[] | undefined): T[] | undefined =>
    first === undefined && second === undefined ? undefined : [...(first ?? []), ...(second ?? [])];
  const rules = both(one.rules, other.rules);
  const directories = both(one.directories, other.directories);
  const subagents = both(one.subagents, other.subagents);
  return {
    ...one,
    ...other,
    ...(rules !== undefined && { rules }),
    ...(directories !== undefined && { directories }),
    ...(subagents !== undefined && { subagents }),
    ...(other.mcpServers !== undefined && { mcpServers: { ...one.mcpServers, ...other.mcpServers } }),
  };
}

async function configIn(flag: string, value: string, dialect: string): Promise<SessionConfig> {
  const read = readerOf(flag, dialect);
  if (read === undefined) return {};
  const json = value.trimStart().startsWith("{") ? value : await fileText(value, `--${flag}`);
  const { config, unused = [] } = await read(json).catch((error: unknown) => {
    throw usage(`--${flag} cannot be used: ${messageOf(error)}`);
  });
  if (unused.length > 0) process.stderr.write(`parley: of --${flag} these change nothing here: ${unused.join(", ")}\n`);
  return config;
}

/** The dialect's own program decides the form of the JSON; without one, the first program of the registry that has a form. */
function readerOf(flag: string, dialect: string): TextReader | undefined {
  const own = programOf(dialect);
  const known = [...(own === undefined ? [] : [own]), ...programs.map(({ program }) => program)];
  return known.find(({ texts: readers }) => readers?.[flag] !== undefined)?.texts?.[flag];
}

export async function fileText(path: string, flag: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usage(`${flag}: ${messageOf(error)}`);
  }
}
