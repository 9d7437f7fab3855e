// Bundles the command and the library entries into dist/, split so that a command loads only what it needs.
import { chmod, rm } from "node:fs/promises";
import { builtinModules } from "node:module";
import { rolldown } from "rolldown";

const external = [...builtinModules, ...builtinModules.map((name) => `node:${name}`), "@vscode/ripgrep"];

await rm("dist", { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    parley: "src/cli/parley.ts",
    index: "src/index.ts",
    engine: "src/engine/index.ts",
    dialects: "src/dialects/index.ts",
  },
  platform: "node",
  external,
  resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  onLog(level, log, handle) {
    // Vendors' packages may warn; our own code may not.
    if (log.id?.includes("node_modules") !== true) handle(level, log);
  },
});
await bundle.write({ dir: "dist", format: "esm", chunkFileNames: "chunks/[name]-[hash].js" });
await bundle.close();
await chmod("dist/parley.js", 0o755);
