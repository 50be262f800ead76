import { defineConfig } from "vitest/config";
import { doors } from "./test/kit/doors.ts";

export default defineConfig({
  resolve: { alias: [...doors] },
  test: {
    include: ["test/attack/*.attack.ts"],
    setupFiles: ["test/kit/property-seed.ts"],
    pool: "forks",
    maxWorkers: 2,
    globalSetup: ["test/attack/kit/totals.ts"],
    server: { deps: { external: [/\.attack\//] } },
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
