import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/crash/*.crash.ts"],
    setupFiles: ["test/support/property-seed.ts"],
    pool: "forks",
    fileParallelism: false,
    globalSetup: ["test/support/compile.ts", "test/crash/totals.ts"],
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
