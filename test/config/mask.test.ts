/** What is masked, as a configuration or a preset says. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions } from "windrow";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-mask-"));
});

afterEach(async () => {
  delete process.env["MASK_TEST_PASSWORD"];
  delete process.env["MASK_TEST_SEAL"];
  await rm(folder, { recursive: true });
});

const said = "Write to ann@example.org, the password is swordfish-and-chips";

/** What stands on disk of a message, by a manager with these options. */
async function kept(options: ManagerOptions): Promise<string> {
  const manager = await SessionManager.open({ store: folder, ...options });
  const session = await manager.create();
  await session.append({ role: "user", parts: [{ type: "text", text: said }] });
  await manager.close();
  return readFile(join(folder, "running", session.id, "messages.jsonl"), "utf8");
}

async function configured(mask: object, more: object = {}): Promise<ManagerOptions> {
  const file = join(folder, "windrow.config.json");
  await writeFile(file, JSON.stringify({ mask, ...more }));
  return { config: file };
}

it("masks addresses in preset coding-agent, also where the configuration names it or masks more", async () => {
  const preset = { strategy: "coding-agent", model: "gpt-4o" };
  expect(await kept(await configured({}, preset))).toContain("[EMAIL]");
  expect(await kept(await configured({ environment: true }, preset))).toContain("[EMAIL]");
  expect(await kept({ ...preset, ...(await configured({ environment: true })) })).toContain("[EMAIL]");
  expect(await kept({ strategy: "adaptive", ...(await configured({}, preset)) })).toContain("ann@example.org");
});

it("does not repeat a key that was written where its variable's name belongs", async () => {
  const key = "kV2mQp7Lr4Tz8Wk9Xv2mQp7Lr4Tz8WxYz01";
  const refused: unknown = await kept(await configured({ seal: key })).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "bad-option", message: expect.stringContaining("WINDROW_SEAL_KEY") as string });
  expect(JSON.stringify(refused) + String(refused)).not.toContain(key);
});

it("masks what the environment holds under a name of secrets", async () => {
  process.env["MASK_TEST_PASSWORD"] = "swordfish-and-chips";
  expect(await kept({})).toContain("swordfish");
  expect(await kept(await configured({ environment: true }))).toContain("[MASK_TEST_PASSWORD]");
});

it("seals under a key of the environment, and says when it is not there", async () => {
  const options = await configured({ email: true, seal: "MASK_TEST_SEAL" });
  await expect(kept(options)).rejects.toMatchObject({
    code: "bad-option",
    message: expect.stringContaining("MASK_TEST_SEAL") as string,
  });
  process.env["MASK_TEST_SEAL"] = "k".repeat(40);
  const line = await kept(options);
  expect(line).toContain('"sealed":');
  expect(line).not.toContain("ann@example.org");
});
