/** Real folders for tests of what is read from files. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Reading } from "./definitions.js";
import { repositoryOf } from "./places.js";
import { Stamps } from "./stamps.js";

export interface Ground {
  /** Holds all the others: `home` is PARLEY_HOME, `user` the user's folder, `repo/app` the workspace. */
  base: string;
  put(files: Record<string, string | Uint8Array>): void;
  reading(options?: { trusted?: boolean; root?: string }): Promise<Reading & { warnings: string[] }>;
}

export function ground(files: Record<string, string | Uint8Array> = {}): Ground {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-files-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const put = (more: Record<string, string | Uint8Array>): void => {
    for (const [name, content] of Object.entries(more)) {
      mkdirSync(dirname(join(base, name)), { recursive: true });
      writeFileSync(join(base, name), content);
    }
  };
  put({ "repo/.git/HEAD": "", "repo/app/.keep": "", "user/.keep": "", "home/.keep": "", ...files });
  return {
    base,
    put,
    async reading({ trusted = false, root = join(base, "repo/app") } = {}) {
      const warnings: string[] = [];
      const around = {
        home: join(base, "home"),
        userHome: join(base, "user"),
        anteHome: undefined,
        root,
        repository: await repositoryOf(root),
        trusted,
      };
      return { around, stamps: new Stamps(), warnings, warn: (text) => void warnings.push(text.replaceAll(`${base}/`, "")) };
    },
  };
}
