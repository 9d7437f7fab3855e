// Bundles the command into dist/parley.js and dist/command, split so that it loads only what is needed, and the library into dist/lib.
import { execFileSync } from "node:child_process";
import { chmod, cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { commandFiles } from "./command-files.mjs";
import { billOfMaterials } from "./sbom.mjs";
import { nativeParser, standIns } from "./stand-ins.mjs";
import { textFiles } from "./text-files.mjs";

const external = [...builtinModules, ...builtinModules.map((name) => `node:${name}`), "@vscode/ripgrep"];

/**
 * The files of the command are few, because opening files is what a start costs. A group is one file: the modules named here and, with
 * each, everything that it imports. A module that two groups want is in the earlier one.
 */
const GROUPS = [
  {
    // Every protocol mode needs these until it is ready.
    name: "start",
    entries: [
      "src/cli/command-line/commands.ts",
      "src/cli/command-line/find-command.ts",
      "src/cli/command-line/host-program.ts",
      "src/cli/compose/telemetry.ts",
      "src/cli/compose/protocol-stdout.ts",
      "src/cli/serve/stdio.ts",
      "src/cli/serve/structured.ts",
      "src/core/command.ts",
      "src/core/grammar.ts",
      "src/dialects/index.ts",
      "src/dialects/kit/",
      "src/link/serve.ts",
      "src/os/processes/reaper.ts",
      "src/transports/stdio.ts",
    ],
  },
  {
    // The native dialect and tapes say ops and events as they are.
    name: "native",
    entries: ["src/dialects/native/", "src/core/op.ts"],
  },
  {
    // A turn needs these, and so do limits of tools before a session is ready, `doctor` and `schema`.
    name: "rules",
    entries: [
      "src/engine/permissions/rules.ts",
      "src/engine/permissions/protection.ts",
      "src/engine/tools/search/ripgrep.ts",
      "node_modules/@valibot/to-json-schema/",
    ],
  },
  {
    // The first turn of every provider needs these.
    name: "turn",
    entries: [
      "src/engine/turn/run-turn.ts",
      "src/engine/extensions/extensions.ts",
      "src/engine/models/vendor/vendor.ts",
      "src/engine/models/wires/compatible.ts",
      "node_modules/@ai-sdk/provider-utils/",
      "node_modules/zod/",
    ],
  },
];

/** Parts of those folders that one kind of dialect needs: loaded with it. */
const LATER = /\/src\/dialects\/kit\/stream-json\//;

const bundled = new Set();
await rm("dist", { recursive: true, force: true });
await bundle({ parley: "src/cli/load.ts" }, { dir: "dist", format: "cjs" });
await bundle(
  { main: "src/cli/parley.ts" },
  {
    dir: "dist/command",
    format: "cjs",
    codeSplitting: {
      groups: GROUPS.map(({ name, entries }) => ({
        name,
        test: (id) => entries.some((entry) => id.includes(`/${entry}`)) && !LATER.test(id),
      })),
    },
    plugins: [commandFiles],
  },
);
await bundle(
  {
    index: "src/index.ts",
    engine: "src/engine/index.ts",
    dialects: "src/dialects/index.ts",
    bridge: "src/bridge/index.ts",
    otel: "src/engine/trace/otel-tracer.ts",
  },
  { dir: "dist/lib", format: "esm" },
);
await cp("src/bridge/profiles", "dist/profiles", { recursive: true });
await writeFile("dist/package.json", '{ "type": "commonjs" }\n');
await writeFile("dist/lib/package.json", '{ "type": "module" }\n');
await writeFile("dist/THIRD-PARTY-NOTICES.txt", await notices());
await writeFile("dist/sbom.cdx.json", await billOfMaterials(bundled));
await chmod("dist/parley.js", 0o755);
// A first run leaves compiled code behind: not the one that somebody waits for. It has nobody's config, hooks and variables.
const nobody = join(import.meta.dirname, "no-such-home");
execFileSync(process.execPath, ["dist/parley.js", "-p", "hi", "--provider", "rehearsal", "--no-session"], {
  env: { PATH: process.env.PATH, HOME: nobody, PARLEY_HOME: nobody },
});

async function bundle(input, output) {
  const build = await rolldown({
    input,
    platform: "node",
    external,
    plugins: [nativeParser, standIns, textFiles],
    // The paths in it are for types alone.
    tsconfig: false,
    // AWS's packages have no exports; only their files for bundlers leave out unused code.
    resolve: { mainFields: ["module", "main"], extensionAlias: { ".js": [".ts", ".js"] } },
    onLog(level, log, handle) {
      // Vendors' packages may warn; our own code may not. The library has no start to speed up, so laziness may be lost on it.
      if (log.id?.includes("node_modules") !== true && log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") handle(level, log);
    },
  });
  const written = await build.write({
    chunkFileNames: "[name]-[hash].js",
    // As modules are; CommonJS has to be told.
    strict: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    ...output,
  });
  for (const { moduleIds = [] } of written.output) for (const id of moduleIds) notePackage(id);
  await build.close();
}

/** The innermost package that a module belongs to. */
function notePackage(id) {
  const [, root] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id) ?? [];
  if (root !== undefined) bundled.add(root);
}

/** The names of the bundled packages and the texts of their licences, which the licences ask for. */
async function notices() {
  const entries = await Promise.all(
    [...bundled].map(async (root) => {
      const about = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
      return `${about.name} ${about.version} (${about.license})\n\n${(await licenceText(root, about)).trim()}\n`;
    }),
  );
  return `Parley contains these packages.\n\n${entries.sort().join(`\n${"-".repeat(72)}\n\n`)}`;
}

/** The licence that a package brings; one that brings none is published under the text that its licence's name stands for. */
async function licenceText(root, { name, license, author }) {
  const file = (await readdir(root)).find((entry) => /^licen[cs]e(-\w+)?(\.\w+)?$/i.test(entry));
  if (file !== undefined) return readFile(join(root, file), "utf8");
  if (license === "Apache-2.0") return readFile("LICENSE", "utf8");
  const holder = typeof author === "string" ? author : author?.name;
  if (license === "MIT" && holder !== undefined) return (await readFile("scripts/licences/MIT.txt", "utf8")).replace("<holder>", holder);
  throw new Error(`The package ${name} (${license}) has no licence text: add one to scripts/licences`);
}
