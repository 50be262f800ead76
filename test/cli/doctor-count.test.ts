/** The doctor counts one session as one. */
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { newFolder, windrow } from "./stage.ts";

it("counts one session and its records", async () => {
  const store = `${await newFolder()}/contexts`;
  const manager = await SessionManager.open({ store, budget: 8_000 });
  const session = await manager.create();
  await session.append("x");
  await session.finish("completed");
  await manager.close();
  const { stdout } = await windrow(["doctor", "--store", store]);
  expect(stdout).toMatch(/^1 session, \d+ records? in /);
});
