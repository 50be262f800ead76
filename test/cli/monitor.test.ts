/** `windrow monitor`: alerts in the log, and by status. */
import { expect, it } from "vitest";
import { everybody, filesStore, newSession, stateOf } from "../kit/inside/store.ts";
import { emptyStore, newFolder, windrow } from "./stage.ts";

async function storeWith(...ends: readonly ("completed" | "failed")[]): Promise<string> {
  const folder = await newFolder();
  const store = filesStore({ folder });
  for (const status of ends) await store.finish(await store.create(everybody, newSession()), stateOf(status));
  await store.close();
  return folder;
}

it("ends with status 1 where a limit is exceeded, and says which", async () => {
  const folder = await storeWith("completed", "failed");
  const text = await windrow(["monitor", "--once", "--store", folder]);
  expect(text.status).toBe(1);
  expect(text.stdout).toMatch(/^\S+ \S+ WARNING Alert: 50 % of the ended sessions failed, more than 10 %\./);
  const json = await windrow(["monitor", "--once", "--json", "--store", folder, "--disk-critical", "0"]);
  expect(json.status).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    alerts: [
      { name: "disk", level: "critical", limit: 0 },
      { name: "failures", level: "warning", value: 0.5, limit: 0.1 },
    ],
  });
  expect((await windrow(["monitor", "--once", "--store", folder, "--failures", "50"])).status).toBe(0);
  expect((await windrow(["monitor", "--once", "--store", folder, "--no-alerts"])).status).toBe(0);
  expect((await windrow(["monitor", "--once", "--store", await storeWith("completed")])).status).toBe(0);
  expect((await windrow(["monitor", "--once", "--store", await emptyStore()])).status).toBe(0);
});
