/** A path with a slip in it is told, not taken for an empty store, and no store is made there. */
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { driver } from "../kit/sqlite-stores.ts";
import { commands } from "./every-command.ts";
import { newFolder, put, windrow } from "./stage.ts";

const id = "3f2b1c0a-1111-4111-8111-111111111111";
const nowhere = { beside: "/nowhere", file: "none", config: "none", open: id, finished: id, word: "word" };

/** What reads or writes a store that there is; an import makes its own. */
const lines = Object.entries(commands)
  .filter(([name]) => name !== "import")
  .flatMap(([name, all]) => all.map((argvOf) => [name, ...argvOf({ ...nowhere, store: "STORE" })]))
  .concat([["serve", "--no-open", "--store", "STORE"]])
  .filter((argv) => argv.includes("STORE"));

const at = (argv: readonly string[], store: string): ReturnType<typeof windrow> =>
  windrow(argv.map((word) => (word === "STORE" ? store : word)));

it.each(lines)("windrow %s", async (...argv) => {
  const base = await newFolder();
  for (const scheme of ["", ...(driver ? ["sqlite:"] : [])]) {
    const path = join(base, "contxts");
    const { status, stdout, stderr } = await at(argv, `${scheme}${path}`);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("store-unavailable");
    expect(stderr).toContain(path);
    expect(existsSync(path)).toBe(false);
  }
});

// A scan reads any folder as it is, for what lies in it in clear.
it.each(lines.filter(([name]) => name !== "scan"))("windrow %s, in a folder that is no store", async (...argv) => {
  const base = await newFolder();
  await mkdir(join(base, "logs", "contexts", "completed"), { recursive: true });
  const told = async (store: string): Promise<string> => {
    const { status, stdout, stderr } = await at(argv, store);
    expect([status, stdout], store).toEqual([1, ""]);
    expect(stderr).toContain("store-unavailable");
    return stderr;
  };
  const lacks = 'it has neither a folder "running" nor "completed".';
  expect(await told(base)).toContain(`There is no store in ${base}: ${lacks} There is one in ${base}/logs/contexts.\n`);
  expect(await told(join(base, "logs/contexts/completed"))).toContain(`There is one in ${base}/logs/contexts.\n`);
  expect(await readdir(base)).toEqual(["logs"]);

  const plain = await newFolder();
  expect(await told(plain)).toContain(`There is no store in ${plain}: ${lacks} Check the path.\n`);
  await put(plain, "agents.db", "");
  expect(await told(plain)).toContain(`A database is named as sqlite:${plain}/agents.db.\n`);
  expect(await told(join(plain, "agents.db"))).toContain("it is a file. A database is named as sqlite:");
  expect(driver ? await told(`sqlite:${plain}`) : lacks).toContain(lacks);
  expect(await readdir(plain)).toEqual(["agents.db"]);
});

it("takes a folder of another use under the usual name for no store, where none is named", async () => {
  const base = await newFolder();
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  await mkdir(join(base, "contexts"));
  process.chdir(base);
  const { status, stderr } = await windrow(["usage", "--no-cache"], { HOME: base });
  expect([status, stderr]).toEqual([0, ""]);
});
