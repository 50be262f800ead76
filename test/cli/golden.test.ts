/** The examples of seed 001 §9.1 and §9.2, in every language, beside files that were compared with the seed by eye. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stats } from "windrow/ops";
import { codingAgentStats, wordsOf } from "../kit/inside/cli.ts";
import { locales } from "../kit/inside/config.ts";
import { seedId, seedSession, seedStore } from "./seed-example.ts";
import { newFolder, windrow } from "./stage.ts";

const layout = ["--layout", "coding-agent"];

function golden(name: string): string {
  return readFileSync(new URL(`golden/${name}.txt`, import.meta.url), "utf8");
}

describe.each(locales)("in %s", (locale) => {
  it("view shows the session of §9.1", async () => {
    const folder = await newFolder();
    await seedSession(folder);
    const { status, stdout } = await windrow(["view", seedId, "--store", folder, "--lang", locale, ...layout]);
    expect(status).toBe(0);
    expect(stdout.replace(folder, "STORE")).toBe(golden(`view.${locale}`));
  });

  it("stats shows the store of §9.2", async () => {
    const report = await stats(seedStore(), { now: () => new Date("2024-01-31T00:00:00Z"), goals: true });
    expect(`${codingAgentStats(report, await wordsOf(locale))}\n`).toBe(golden(`stats.${locale}`));
  });
});

it("takes the language from the flag, then WINDROW_LANG, then the system", async () => {
  const folder = await newFolder();
  await seedSession(folder);
  const labelOf = async (flags: readonly string[], env: Record<string, string>): Promise<string> =>
    (await windrow(["view", seedId, "--store", folder, ...layout, ...flags], env)).stdout.split(":")[0] ?? "";
  expect(await labelOf([], {})).toBe("Task UUID");
  expect(await labelOf([], { LANG: "ja_JP.UTF-8" })).toBe("タスクUUID");
  expect(await labelOf([], { LANG: "de_DE.UTF-8" })).toBe("Task UUID");
  expect(await labelOf([], { LANG: "ja_JP.UTF-8", WINDROW_LANG: "zh" })).toBe("任务 UUID");
  expect(await labelOf(["--lang", "en"], { WINDROW_LANG: "zh" })).toBe("Task UUID");
  const wrong = await windrow(["view", seedId, "--store", folder], { WINDROW_LANG: "klingon" });
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining("en, ja, zh")]);
});
