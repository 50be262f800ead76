/** The shipped crash cases, as a stranger runs them: from the compiled package, with a module of one's own. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { storeCrashCases } from "windrow/testing";
import type { ConformanceCase, CrashTarget } from "windrow/testing";
import { dist } from "../kit/build.ts";
import { storeKinds } from "./archive/kinds.ts";
import { newFolder } from "./archive/kinds.ts";

let folder: string;
let built: { readonly storeCrashCases: typeof storeCrashCases };
beforeAll(async () => {
  folder = await newFolder();
  built = (await import(pathToFileURL(join(dist, "store/testing/conformance.js")).href)) as typeof built;
}, 60_000);

/** A module that opens a store in a place; `open` is its body, with `where` and `windrow`. */
async function target(name: string, newPlace: () => Promise<string>, open: string): Promise<CrashTarget> {
  const path = join(folder, `${name}.mjs`);
  const windrow = pathToFileURL(join(dist, "access/open.js")).href;
  const code = `import * as windrow from ${JSON.stringify(windrow)};\nexport async function open(where) { ${open} }\n`;
  await writeFile(path, code);
  const place: CrashTarget["place"] = async () => ({ where: await newPlace(), remove: async () => undefined });
  return { module: pathToFileURL(path).href, place };
}

// The list of names is the same whatever the target.
const names = storeCrashCases({ module: "", place: () => Promise.reject(new Error("not used")) }).map(
  ({ name }) => name,
);
const caseOf = (of: CrashTarget, name: string): ConformanceCase =>
  built.storeCrashCases(of).find((one) => one.name === name)!;

const kinds = storeKinds().filter(({ isHere }) => isHere);

describe.skipIf(process.platform === "win32")("crash cases", { timeout: 60_000 }, () => {
  describe.each(kinds)("$name", ({ name: kind, address }) => {
    it.each(names)("%s", async (name) => {
      const of = await target(kind, address, "return windrow.openStore(where);");
      await expect(caseOf(of, name).run()).resolves.toBeUndefined();
    });
  });

  it("find out a store that acknowledges before it has written", async () => {
    const open = `
      const store = await windrow.openStore(where);
      const eager = async (lock, records) => {
        const last = eager.last ?? { seq: 0, pos: 0 };
        eager.last = { seq: last.seq + 1, pos: last.pos + 1 };
        setTimeout(() => store.append(lock, records).catch(() => undefined), 50);
        return [{ ...records[0], ...eager.last }];
      };
      const others = { get: (of, name) => (name === "append" ? eager : of[name]?.bind?.(of) ?? of[name]) };
      return new Proxy(store, others);`;
    await expect(caseOf(await target("eager", newFolder, open), names[0]!).run()).rejects.toThrow(
      /is lost|is another|no gap|deep-equal/,
    );
  });
});
