// Bundles the command and the library entries into dist/, split so that a command loads only what it needs.
import { chmod, rm } from "node:fs/promises";
import { builtinModules } from "node:module";
import { rolldown } from "rolldown";

const external = [...builtinModules, ...builtinModules.map((name) => `node:${name}`), "@vscode/ripgrep"];

/** What every protocol mode needs until it is ready: in one file, because opening files is what a start costs. */
const START = [
  /\/src\/core\//,
  /\/src\/transports\/(stdio|streams|lines)\./,
  /\/src\/dialects\/kit\//,
  /\/src\/dialects\/(index|dialect)\./,
  /\/src\/link\/(serve|gaps|stamp)\./,
  /\/src\/engine\/(engine|session|session-state|open-session|approval|history|host-requests|locks|environment|local-workspace)\./,
  /\/src\/engine\/(config|config-file|config-flags|config-layers|config-model|trust|nearest)\./,
  /\/src\/engine\/models\/(open|catalogue|choose-provider)\./,
  /\/src\/engine\/store\/recorder\./,
  /\/src\/cli\/(serve-stdio|build-engine|opening|signals|version|flags|commands)\./,
  /\/node_modules\/valibot\//,
];

await rm("dist", { recursive: true, force: true });
await build({ parley: "src/cli/parley.ts" }, [{ name: "start", test: (id) => START.some((pattern) => pattern.test(id)) }]);
await build({ index: "src/index.ts", engine: "src/engine/index.ts", dialects: "src/dialects/index.ts" }, []);
await chmod("dist/parley.js", 0o755);

async function build(input, groups) {
  const bundle = await rolldown({
    input,
    platform: "node",
    external,
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    onLog(level, log, handle) {
      // Vendors' packages may warn; our own code may not. The library has no start to speed up, so laziness may be lost on it.
      if (log.id?.includes("node_modules") !== true && log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") handle(level, log);
    },
  });
  await bundle.write({ dir: "dist", format: "esm", chunkFileNames: "chunks/[name]-[hash].js", codeSplitting: { groups } });
  await bundle.close();
}
