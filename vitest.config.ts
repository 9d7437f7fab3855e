import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/built.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Of two cores: a third of the time goes by in waiting for deadlines.
    maxWorkers: 3,
  },
});
