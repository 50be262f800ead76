/**
 * An attack: a function that tries to break the compiled product from outside and reports where it did. The same
 * function runs against the product as it is, which must hold, and against copies with a seeded bug, which must not.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { productFolder, seededProduct } from "./product.ts";
import type { SourceChange } from "./product.ts";

/** A compiled product under attack. */
export interface Product {
  /** Folder of the compiled modules, laid out as `src/`: `index.js`, `cli/main.js`. */
  readonly root: string;
  /** An empty folder for this run, removed afterwards. */
  readonly scratch: string;
  /** The command's main file, for `spawn(process.execPath, [product.command, …])`. */
  readonly command: string;
  /** Whether a bug is seeded: the run ends at the first failure, so an attack may begin with its sharpest part. */
  readonly seeded: boolean;
  /** Imports a module of the product by its path below `src/`, for example `load<typeof Windrow>("index.js")`. */
  load<Module>(path: string): Promise<Module>;
}

/** Takes what an attack found. */
export interface Report {
  /** Reports a promise of the product that did not hold. */
  failed(what: string): void;
}

/** A bug put back into a copy of the product. */
export interface SeededBug {
  /** States what the bug does. */
  readonly name: string;
  /** Texts of source files, each of which must occur exactly once, and what stands there in the copy. */
  readonly changes: readonly SourceChange[];
}

/** An attack with the bugs that it must catch. */
export interface Attack {
  readonly name: string;
  readonly seeds: readonly SeededBug[];
  run(product: Product, report: Report): Promise<void>;
}

class Caught extends Error {}

/** Registers an attack with the test runner: once against the product, once for each seeded bug. */
export function attack(definition: Attack): void {
  const { seeds } = definition;
  const run: Attack["run"] = (product, report) => definition.run(product, report);
  describe(`attack: ${definition.name}`, () => {
    it("the product holds", async () => {
      const failures: string[] = [];
      await against(productFolder(), false, run, { failed: (what) => failures.push(what) });
      expect(failures).toEqual([]);
    });

    it.each(seeds)("the seeded bug is caught: $name", async ({ changes }) => {
      const product = await seededProduct(changes);
      const failures: string[] = [];
      // What is thrown where the product calls back may be dropped there, so the failure is kept too.
      const failed = (what: string): never => {
        failures.push(what);
        throw new Caught(what);
      };
      try {
        await against(product.folder, true, run, { failed });
      } catch (error) {
        if (!(error instanceof Caught)) throw error;
      } finally {
        await product.remove();
      }
      expect(failures).not.toEqual([]);
    });
  });
}

async function against(root: string, seeded: boolean, run: Attack["run"], report: Report): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), "windrow-attack-"));
  const load = async <Module>(path: string): Promise<Module> =>
    (await import(pathToFileURL(join(root, path)).href)) as Module;
  try {
    await run({ root, scratch, command: join(root, "cli/main.js"), seeded, load }, report);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
