import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";
import { secretSamples } from "../mask/samples.ts";
import { json, newFolder, windrow } from "./stage.ts";

const { secret } = secretSamples["github-token"]!;

it("says where a secret lies in clear, and ends with 1; never the secret", async () => {
  const folder = await newFolder();
  await writeFile(join(folder, "notes.txt"), `one\ntwo ${secret}\n`);
  const { status, stdout, stderr } = await windrow(["scan", "--store", folder]);
  expect(status).toBe(1);
  expect(stdout).toMatch(/github-token .*notes\.txt .*2/);
  expect(stdout + stderr).not.toContain(secret);
  const json = await windrow(["scan", "--store", folder, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    found: [{ kind: "github-token", file: "notes.txt", line: 2 }],
    files: 1,
  });
});

it("a store without any ends with 0", async () => {
  const folder = await newFolder();
  await writeFile(join(folder, "notes.txt"), "nothing here, ask me@mail.example.com\n");
  expect(await windrow(["scan", "--store", folder])).toMatchObject({ status: 0 });
  expect(await windrow(["scan", "--store", folder, "--email"])).toMatchObject({ status: 1 });
});

it("finds the values of the environment's secret variables", async () => {
  const folder = await newFolder();
  await writeFile(join(folder, "notes.txt"), "it is plain-words-here\n");
  const env = { DEPLOY_TOKEN: "plain-words-here" };
  expect(await windrow(["scan", "--store", folder], env)).toMatchObject({ status: 0 });
  const found = await windrow(["scan", "--store", folder, "--environment"], env);
  expect(found.status).toBe(1);
  expect(found.stdout).toContain("registered-value");
  expect(found.stdout).not.toContain("plain-words-here");
});

it("shows a user nothing of others, and tells the audit of a look at everything", async () => {
  const folder = await newFolder();
  const store = join(folder, "store");
  const manager = await SessionManager.open({ store: await openStore(store), user: "bob" });
  const session = await manager.create();
  await manager.close();
  await writeFile(join(store, "running", session.id, "notes.txt"), secret);
  const seen = await windrow(["scan", "--store", store, "--json", "--user", "alice"]);
  expect(seen).toMatchObject({ status: 0 });
  expect(seen.stdout).not.toContain(session.id);
  const audited = { WINDROW_AUDIT: "true", WINDROW_USER: "root", WINDROW_ADMIN: "true" };
  expect(await windrow(["scan", "--store", store], audited)).toMatchObject({ status: 1 });
  expect(await json(["audit", "--store", store, "--action", "examine"])).toMatchObject({
    entries: [{ who: "root", action: "examine" }],
  });
});
