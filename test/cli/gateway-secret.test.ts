import { expect, test } from "vitest";
import { secretOf } from "../kit/inside/cli.ts";
import type { CommandIo } from "../kit/inside/cli.ts";
import { temporaryFolder } from "../gateway/lines/stage.ts";

const digits = "0123456789abcdef".repeat(4);
const elsewhere = "https://store.example.com";

function ioOf(env: Record<string, string>): { io: CommandIo; said: string[] } {
  const said: string[] = [];
  const stderr = { write: (text: string) => said.push(text) > 0 };
  return { io: { env, stderr } as unknown as CommandIo, said };
}

test("a store elsewhere has the secret of the environment, so that a restart knows its conversations", async () => {
  const { io, said } = ioOf({ WINDROW_GATEWAY_SECRET: digits });
  expect((await secretOf(elsewhere, io)).toString("hex")).toBe(digits);
  expect(said).toEqual([]);
});

test("without one it is another each time, and a warning says so", async () => {
  const { io, said } = ioOf({ WINDROW_GATEWAY_SECRET: "" });
  const [first, second] = [await secretOf(elsewhere, io), await secretOf(elsewhere, io)];
  expect(first.equals(second)).toBe(false);
  expect(said.join("")).toContain("WINDROW_GATEWAY_SECRET");
});

test("one of another form is refused and not quoted", async () => {
  const { io } = ioOf({ WINDROW_GATEWAY_SECRET: "my-own-password" });
  const refused = secretOf(elsewhere, io);
  await expect(refused).rejects.toMatchObject({ code: "bad-option" });
  await expect(refused).rejects.not.toThrow(/my-own/);
});

test("a folder of this machine keeps its own, whatever the environment says", async () => {
  const folder = await temporaryFolder();
  const { io } = ioOf({ WINDROW_GATEWAY_SECRET: digits });
  const kept = await secretOf(folder, io);
  expect(kept.toString("hex")).not.toBe(digits);
  expect((await secretOf(folder, io)).equals(kept)).toBe(true);
});
