/** The new contents of the files that a patch names, worked out before any of them is written. */
import type { Redactor } from "../../../core/secrets/redact.js";
import type { FileInfo, Workspace } from "../../workspace/workspace.js";
import { maskProblem } from "../files/masked-text.js";
import { exactText, MAX_FILE_BYTES } from "../files/text-file.js";
import type { Section } from "./parse-patch.js";
import { patchText } from "./patch-text.js";

/** A file before the patch. */
interface OldFile {
  /** The path as the patch writes it. */
  name: string;
  path: string;
  info: FileInfo;
  bytes: Uint8Array;
  /** Null if the content is not UTF-8 text. */
  text: string | null;
}

/** The change of one file: `old` alone means deleted, `after` alone means new. */
export interface FileChange {
  name: string;
  /** The new path; the old one for a deletion. */
  path: string;
  old: OldFile | null;
  after: string | null;
}

interface Planned {
  changes: FileChange[];
  notes: string[];
}

/** The target of a path, and the reason for which the file must not be changed, if there is one. */
export interface PlanContext {
  workspace: Workspace;
  redactor: Redactor;
  locate(path: string): Promise<string>;
  /** The reason for which the file must be read before it is deleted or changed in parts. */
  refusal(file: Pick<OldFile, "name" | "path" | "info">, isDeleted: boolean): string | undefined;
}

/** A file while the sections are processed. */
interface Draft {
  name: string;
  path: string;
  /** Its present content; null after a deletion or a move. */
  text: string | null;
  /** The file on disk that it comes from. */
  old: OldFile | null;
  /** The patch has moved the original file away. */
  isMoved?: true;
}

export async function planPatch(sections: readonly Section[], context: PlanContext): Promise<Planned | { problem: string }> {
  const plan = new Plan(context);
  for (const section of sections) {
    const problem = await plan.take(section);
    if (problem !== undefined) return { problem };
  }
  return plan.result();
}

class Plan {
  readonly #context: PlanContext;
  readonly #drafts = new Map<string, Draft>();
  readonly #notes: string[] = [];

  constructor(context: PlanContext) {
    this.#context = context;
  }

  async take(section: Section): Promise<string | undefined> {
    const path = await this.#context.locate(section.path);
    const draft = await this.#draftOf(section.path, path);
    if (typeof draft === "string") return draft;
    switch (section.do) {
      case "add":
        if (draft.isMoved) return `${section.path} is moved away by this patch: add a file in its place by another one.`;
        if (draft.text !== null) return `${section.path} is there already: change it with "*** Update File".`;
        draft.text = section.content;
        return undefined;
      case "delete":
        return this.#delete(draft);
      case "update":
        return this.#update(draft, section);
    }
  }

  result(): Planned | { problem: string } {
    const changes: FileChange[] = [];
    for (const { name, path, text, old } of this.#drafts.values()) {
      const isUntouched = text === null ? old === null : old?.path === path && text === old.text;
      if (isUntouched) continue;
      const problem = text === null ? undefined : maskProblem(name, old?.text ?? null, text, this.#context.redactor);
      if (problem !== undefined) return { problem };
      changes.push({ name, path, old, after: text });
    }
    return { changes, notes: this.#notes };
  }

  #delete(draft: Draft): string | undefined {
    if (draft.text === null) return `Failed to delete ${draft.name}: no such file.`;
    if (draft.old !== null) {
      const refused = this.#context.refusal({ ...draft.old, name: draft.name }, true);
      if (refused !== undefined) return refused;
    }
    draft.text = null;
    return undefined;
  }

  async #update(draft: Draft, { path: name, to, hunks }: Section & { do: "update" }): Promise<string | undefined> {
    if (draft.text === null) return `Failed to update ${name}: no such file. To make a new file use "*** Add File".`;
    if (draft.old !== null) {
      const refused = this.#context.refusal({ ...draft.old, name }, false);
      if (refused !== undefined) return refused;
      if (draft.old.text === null) return `Failed to update ${name}: it is not UTF-8 text. Change it with a program in Bash.`;
    }
    const patched = patchText(name, draft.text, hunks, this.#context.redactor);
    if ("problem" in patched) return patched.problem;
    draft.text = patched.text;
    this.#notes.push(...patched.notes);
    return to === undefined ? undefined : this.#move(draft, to);
  }

  async #move(draft: Draft, to: string): Promise<string | undefined> {
    const path = await this.#context.locate(to);
    if (path === draft.path) return undefined;
    const target = await this.#draftOf(to, path);
    if (typeof target === "string") return target;
    if (target.text !== null || target.old !== null) return `Failed to move ${draft.name} to ${to}: there is a file of that name.`;
    target.text = draft.text;
    target.old = draft.old;
    draft.text = null;
    draft.old = null;
    draft.isMoved = true;
    return undefined;
  }

  /** Returns a sentence if the file cannot be part of a patch. */
  async #draftOf(name: string, path: string): Promise<Draft | string> {
    const known = this.#drafts.get(path);
    if (known !== undefined) return known;
    const { workspace } = this.#context;
    const info = await workspace.info(path);
    if (info !== null && info.kind !== "file") return `${name} is a folder or a device, and a patch changes files.`;
    const draft: Draft = { name, path, text: null, old: null };
    if (info !== null) {
      const bytes = await workspace.read(path, MAX_FILE_BYTES, info);
      const text = exactText(bytes);
      draft.old = { name, path, info, bytes, text };
      draft.text = text ?? "";
    }
    this.#drafts.set(path, draft);
    return draft;
  }
}
