import { defineConfig } from "vitest/config";
import type { TestProjectInlineConfiguration } from "vitest/config";
import { doors } from "./test/kit/doors.ts";

/** A group of tests; the groups run one after another, in the order of their numbers. */
function project(
  name: string,
  order: number,
  test: TestProjectInlineConfiguration["test"],
): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: { name, sequence: { groupOrder: order }, ...test },
  };
}

const full = "test/**/*.full.test.ts";

export default defineConfig({
  resolve: { alias: [...doors] },
  test: {
    pool: "forks",
    // Events that nobody listens to are warnings, and tests make many.
    execArgv: ["--no-warnings"],
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: ["test/kit/runs.ts"],
    restoreMocks: true,
    tags: [{ name: "slow", description: "takes a second or more: `npm run test:all` alone runs it" }],
    unstubEnvs: true,
    coverage: { provider: "v8", include: ["src/**"], reporter: ["text-summary", "html"] },
    projects: [
      project("fast", 0, {
        include: ["test/**/*.test.ts"],
        exclude: [full],
        globalSetup: ["test/kit/compile.ts"],
        isolate: false,
      }),
      project("full", 1, { include: [full], globalSetup: ["test/kit/compile.ts"] }),
      project("crash", 2, {
        include: ["test/crash/*.crash.ts"],
        globalSetup: ["test/kit/compile.ts"],
        maxWorkers: 1,
        testTimeout: 300_000,
        hookTimeout: 60_000,
      }),
      project("attack", 3, {
        include: ["test/attack/*.attack.ts"],
        globalSetup: ["test/attack/kit/product.ts"],
        server: { deps: { external: [/\.attack\//] } },
        testTimeout: 180_000,
        hookTimeout: 60_000,
      }),
      project("viewer", 4, {
        include: ["test/viewer-browser/*.browser.ts"],
        globalSetup: ["test/viewer-browser/kit/built.ts"],
        maxWorkers: 1,
        testTimeout: 120_000,
        hookTimeout: 60_000,
      }),
    ],
  },
});
