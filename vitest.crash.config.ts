import { defineConfig } from "vitest/config";
import { doors } from "./test/kit/doors.ts";

export default defineConfig({
  resolve: { alias: [...doors] },
  test: {
    include: ["test/crash/*.crash.ts"],
    setupFiles: ["test/kit/property-seed.ts"],
    pool: "forks",
    fileParallelism: false,
    globalSetup: ["test/kit/compile.ts", "test/crash/totals.ts"],
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
