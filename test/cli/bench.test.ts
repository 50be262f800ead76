/** `windrow bench loop`: its table, its document, its trace, and options that it does not know. */
import { expect, it } from "vitest";
import { json, windrow } from "./stage.ts";

const small = ["--family", "service", "--size", "12", "--budget", "6k"];

it("prints a row for each policy and budget, and each family's where asked", async () => {
  const { status, stdout, stderr } = await windrow(["bench", "loop", "--policy", "none,keep-3,layered", ...small]);
  expect([status, stderr]).toEqual([0, ""]);
  const [head = "", ...rows] = stdout.trimEnd().split("\n");
  expect(head).toMatch(/budget\s+policy\s+family\s+solved\s+wrong\s+void/);
  expect(rows.map((row) => row.trim().split(/\s+/).slice(0, 4))).toEqual([
    ["–", "none", "all", "1"],
    ["6000", "keep-3", "all", "1"],
    ["6000", "layered", "all", "1"],
  ]);
  const families = await windrow(["bench", "loop", "--policy", "none", "--families", ...small]);
  expect(families.stdout.trimEnd().split("\n")).toHaveLength(3);
});

it("hands out every run as JSON", async () => {
  const { runs, totals } = await json<Record<"runs" | "totals", readonly object[]>>([
    ...["bench", "loop", "--policy", "adaptive+recall", "--seed", "1,2"],
    ...small,
  ]);
  expect(runs).toMatchObject([
    { policy: "adaptive+recall", budget: 6_000, family: "service", seed: 1, result: { isCut: false } },
    { seed: 2 },
  ]);
  expect(totals).toMatchObject([{ jobs: 2, quotedRecalls: 0, refused: 0 }]);
});

it("traces every call", async () => {
  const { stdout } = await windrow(["bench", "loop", "--policy", "none", "--trace", ...small]);
  expect(stdout).toMatch(/^service 1 none {2}· call 1 · \d+ tokens, 2 messages$/m);
  expect(stdout).toMatch(/^ {4}needs the \w+: window says \w+ \(m\d+\)$/m);
  expect(stdout).toMatch(/^ {4}calls (get_order|call_back|pass_on|get_customer) \{/m);
});
