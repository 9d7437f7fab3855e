/**
 * Grants that outlive their session: PARLEY_HOME/permissions.yaml, by the real path of the workspace. Written whole, under a lock, for the
 * user's eyes only. Text that cannot be read grants nothing, and is never overwritten.
 */
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { messageOf, ParleyError, systemCode } from "../../../core/errors.js";
import { makeFolder } from "../../../os/files/folders.js";
import { withLock } from "../../../os/files/lock.js";
import { writeWhole } from "../../../os/files/whole-file.js";
import type { PrefixGrant } from "./prefix-grants.js";

export interface KeptGrant {
  workspace: string;
  rule: string;
}

/** Permissions that are kept for a workspace. */
export interface KeptGrants {
  /** `problem`, in a sentence: text in the file that counts for nothing. Never throws. */
  of(workspace: string): Promise<{ grants: PrefixGrant[]; problem?: string }>;
  /** Throws when the file cannot be read. */
  list(): Promise<KeptGrant[]>;
  /** Throws when it cannot be kept. */
  add(workspace: string, grant: PrefixGrant): Promise<void>;
  /** Of all workspaces where none is named; returns those that were removed. */
  remove(rule: string, workspace?: string): Promise<KeptGrant[]>;
}

const NAME = "permissions.yaml";
const MOST_BYTES = 1024 * 1024;
const MOST_WORKSPACES = 1000;
const MOST_RULES = 200;
const MOST_LEVELS = 100;

const HEADING = "# Calls that run unasked, kept by a yes for always in a project. 'parley permissions' lists them and takes them back.\n";

const Content = v.object({ workspaces: v.record(v.string(), v.array(v.string())) });
type Content = v.InferOutput<typeof Content>["workspaces"];

/** The permissions that users keep for their workspaces, in a file below a home folder. */
export function keptGrants(home: string): KeptGrants {
  const file = join(home, NAME);
  return { of: ofWorkspace, list, add, remove };

  async function ofWorkspace(workspace: string): ReturnType<KeptGrants["of"]> {
    try {
      const rules = own(await read(), workspace);
      if (rules.length === 0) return { grants: [] };
      const { grantOf } = await import("./grant-rule.js");
      const found = await Promise.all(rules.map(async (rule) => ({ rule, grant: await grantOf(rule) })));
      const wrong = found.flatMap(({ rule, grant }) => (grant === undefined ? [rule] : []));
      return { grants: found.flatMap(({ grant }) => grant ?? []), ...(wrong.length > 0 && { problem: problemWith(wrong) }) };
    } catch (error) {
      return { grants: [], problem: `No kept permission counts: ${messageOf(error)}` };
    }
  }

  function problemWith(wrong: readonly string[]): string {
    const named = wrong.slice(0, 5).map((rule) => `'${rule}'`);
    return `Kept permissions that no question could have led to count for nothing: ${named.join(", ")}${wrong.length > 5 ? ", …" : ""} (${file})`;
  }

  async function list(): Promise<KeptGrant[]> {
    return Object.entries(await read()).flatMap(([workspace, rules]) => rules.map((rule) => ({ workspace, rule })));
  }

  async function add(workspace: string, { covers }: PrefixGrant): Promise<void> {
    const { ruleOf } = await import("./grant-rule.js");
    const rule = ruleOf(covers);
    await change((content) => {
      const rules = own(content, workspace);
      if (rules.includes(rule)) return content;
      if (rules.length >= MOST_RULES) throw full(`${MOST_RULES} permissions are kept for ${workspace} already`);
      if (rules.length === 0 && Object.keys(content).length >= MOST_WORKSPACES)
        throw full(`Permissions of ${MOST_WORKSPACES} workspaces are kept already`);
      return { ...content, [workspace]: [...rules, rule] };
    });
  }

  async function remove(rule: string, workspace?: string): Promise<KeptGrant[]> {
    const removed: KeptGrant[] = [];
    const has = (content: Content): boolean =>
      Object.entries(content).some(([folder, rules]) => (workspace ?? folder) === folder && rules.includes(rule));
    if (!has(await read())) return removed;
    await change((content) => {
      const rest = Object.entries(content).flatMap(([folder, rules]): [string, string[]][] => {
        if ((workspace ?? folder) !== folder || !rules.includes(rule)) return [[folder, rules]];
        removed.push({ workspace: folder, rule });
        const others = rules.filter((each) => each !== rule);
        return others.length === 0 ? [] : [[folder, others]];
      });
      return Object.fromEntries(rest);
    });
    return removed;
  }

  async function change(work: (content: Content) => Content): Promise<void> {
    makeFolder(home, 0o700);
    await withLock(`${file}.lock`, file, async () => {
      const before = await read();
      const after = work(before);
      if (after === before) return;
      const { stringify } = await import("yaml");
      const text = HEADING + stringify({ workspaces: after }, { lineWidth: 0 });
      if (Buffer.byteLength(text) > MOST_BYTES) throw full(`${file} would have more than ${MOST_BYTES} bytes`);
      await writeWhole(file, text);
    });
  }

  async function read(): Promise<Content> {
    const text = await contentOf(file);
    if (text === undefined) return {};
    const [{ readYaml }, { tooDeepAt }] = await Promise.all([import("../../../core/yaml/text.js"), import("../../../core/yaml/depth.js")]);
    if (tooDeepAt(text, MOST_LEVELS) !== undefined) throw damaged("it is nested too deeply");
    const { doc, lines, problems } = readYaml(text);
    const [problem] = problems;
    if (problem !== undefined) throw damaged(`line ${lines.linePos(problem.offset).line}: ${problem.message}`);
    const value: unknown = doc.toJS({ maxAliasCount: 0 });
    if (!v.is(Content, value)) throw damaged("it does not hold lists of rules by workspace");
    return value.workspaces;
  }

  function damaged(why: string): ParleyError {
    return new ParleyError({ code: "config", message: `${file} cannot be read: ${why}; mend it or remove it`, retryable: false });
  }
}

function own(content: Content, workspace: string): readonly string[] {
  return Object.hasOwn(content, workspace) ? (content[workspace] ?? []) : [];
}

/** Undefined where there is no file. A file that is larger than any of ours is not read. */
async function contentOf(file: string): Promise<string | undefined> {
  try {
    const handle = await open(file);
    try {
      if ((await handle.stat()).size > MOST_BYTES) throw new Error(`${file} has more than ${MOST_BYTES} bytes; mend it or remove it`);
      return await readFile(handle, "utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

function full(what: string): ParleyError {
  return new ParleyError({
    code: "limit",
    message: `${what}; 'parley permissions remove RULE' takes one back`,
    retryable: false,
  });
}
