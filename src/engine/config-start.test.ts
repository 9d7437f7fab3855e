import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadSettings } from "./config.js";

/** Alone in its file, because a module once loaded stays so. */
test("YAML, and the schema with it, is loaded only when there is a config file", async () => {
  const home = await mkdtemp(join(tmpdir(), "parley-start-"));
  const load = () => loadSettings({ flags: {}, env: { PARLEY_HOME: home }, cwd: home });
  const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes(join("node_modules", "yaml")));
  try {
    await load();
    expect(isLoaded()).toBe(false);
    await writeFile(join(home, "config.yaml"), "maxTurns: 3");
    expect((await load()).settings.maxTurns).toBe(3);
    expect(isLoaded()).toBe(true);
  } finally {
    await rm(home, { recursive: true });
  }
});
