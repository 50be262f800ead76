import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/attack/*.attack.ts"],
    setupFiles: ["test/support/property-seed.ts"],
    pool: "forks",
    maxWorkers: 2,
    globalSetup: ["test/attack/kit/totals.ts"],
    server: { deps: { external: [/\.attack\//] } },
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
