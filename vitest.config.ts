import { defineConfig } from "vitest/config";
import { doors } from "./test/kit/doors.ts";

export default defineConfig({
  resolve: { alias: [...doors] },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/kit/compile.ts"],
    setupFiles: ["test/kit/property-seed.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    restoreMocks: true,
    coverage: { provider: "v8", include: ["src/**"], reporter: ["text-summary", "html"] },
  },
});
