/** A folder that goes, or that may not be read, while replay looks through it. */
import type * as FileSystem from "node:fs/promises";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { chatLines, newFolder, put, windrow } from "./stage.ts";

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof FileSystem>();
  const readdir = (path: string, ...rest: readonly never[]): Promise<unknown> => {
    // Node fails a recursive listing whole where a folder below goes.
    const whole = (rest[0] as { readonly recursive?: boolean } | undefined)?.recursive === true;
    if (whole) return Promise.reject(Object.assign(new Error("ENOENT: scandir"), { code: "ENOENT" }));
    const code = { gone: "ENOENT", closed: "EACCES" }[/(gone|closed)$/.exec(path)?.[0] ?? ""];
    if (code !== undefined) return Promise.reject(Object.assign(new Error(`${code}: scandir`), { code }));
    return real.readdir(path, ...rest);
  };
  return { ...real, readdir };
});

async function folderWith(below: string): Promise<string> {
  const folder = await newFolder();
  await put(folder, "a.jsonl", chatLines(3));
  await mkdir(join(folder, below));
  return folder;
}

it("passes over a folder that went meanwhile", async () => {
  const { status, stdout } = await windrow(["replay", await folderWith("gone"), "--budget", "3k", "--json"]);
  expect([status, (JSON.parse(stdout) as { readonly sessions: readonly unknown[] }).sessions.length]).toEqual([0, 1]);
});

it("names a folder that may not be read, and the mend", async () => {
  const folder = await folderWith("closed");
  const { status, stderr } = await windrow(["replay", folder, "--budget", "3k"]);
  const said = `${join(folder, "closed")} cannot be listed (EACCES). Check its permissions, or name a folder within it.`;
  expect([status, stderr]).toEqual([1, expect.stringContaining(`windrow: input-unreadable: ${said}`)]);
});
