import { defineConfig } from "vitest/config";
import { standIns } from "./scripts/stand-ins.mjs";
import { textFiles } from "./scripts/text-files.mjs";

export default defineConfig({
  // The provider packages run in tests as they run in the command.
  plugins: [standIns, textFiles],
  test: {
    server: { deps: { inline: [/\/node_modules\/(@ai-sdk|aws4fetch|eventsource-parser)\//] } },
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/built.ts"],
    setupFiles: ["test/support/fixed-seed.ts"],
    // What hangs fails; what is only slow, because the machine is, does not.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Nothing is mocked and no module keeps state, so files may share a worker and what it has loaded.
    isolate: false,
    // Of two cores: a third of the time goes by in waiting for deadlines.
    maxWorkers: 4,
  },
});
