import { expect, it } from "vitest";
import { withPackage } from "./kit/inside/ground.ts";

it("hands on what was loaded", async () => {
  expect(await withPackage("@modelcontextprotocol/server", "windrow mcp", async () => 1)).toBe(1);
});

it("names the package that is not installed, and how to install it", async () => {
  const name: string = "windrow-is-not-installed-here";
  await expect(withPackage(name, "windrow mcp", () => import(/* @vite-ignore */ name))).rejects.toMatchObject({
    code: "package-missing",
    message: expect.stringContaining(`npm install ${name}`),
  });
});

it("passes every other error on", async () => {
  const broken = new Error("broken");
  await expect(withPackage("@modelcontextprotocol/server", "windrow mcp", () => Promise.reject(broken))).rejects.toBe(
    broken,
  );
});
