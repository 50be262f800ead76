import { defineConfig } from "vitest/config";
import { doors } from "./test/kit/doors.ts";

export default defineConfig({
  resolve: { alias: [...doors] },
  test: {
    include: ["test/viewer-browser/*.browser.ts"],
    globalSetup: ["test/viewer-browser/kit/built.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
