/** File views in the digest: what it shows of a file is what the file holds, as far as the session can know. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import { digest } from "windrow/window";
import { digestAfter, digestIn, filesIn, historyOf, longAfter, quotedIn } from "./digests.ts";

const path = "src/a.ts";

describe("the digest's files", () => {
  it("joins partial reads in the file's order, whatever order they came in", () => {
    const text = digestAfter(
      historyOf(
        ["read", { path, offset: 40, limit: 2 }, "export function laterOne() {\n  return callLater();"],
        ["read", { path, offset: 10, limit: 2 }, "export function earlierOne() {\n  return callEarlier();"],
      ),
    );
    const lines = quotedIn(filesIn(text, path).sure);
    expect(lines.indexOf("  return callEarlier();")).toBeGreaterThanOrEqual(0);
    expect(lines.indexOf("  return callLater();")).toBeGreaterThan(lines.indexOf("  return callEarlier();"));
    expect(text).toContain("\n… 10\n export function earlierOne() {");
    expect(text).toContain("\n… 40\n export function laterOne() {");
  });

  it("shows an edited file whole: what stood around the edit, then what it put in, without a gap", () => {
    const change = { path, oldText: "betaValue = 2", newText: "betaValue = 20" };
    const text = digestAfter(
      historyOf(
        ["read", { path }, "const alphaValue = 1;\nconst betaValue = 2;\nconst gammaValue = 3;"],
        ["edit", change, "Successfully replaced text in src/a.ts."],
      ),
    );
    expect(text).toContain("\n const alphaValue = 1;\n const betaValue = 20;\n const gammaValue = 3;");
    expect(text).not.toContain("betaValue = 2;");
    expect(text, "an acknowledgement needs no lines").not.toContain("Successfully replaced");
  });

  it("takes a failed edit for no change", () => {
    const change = { path, oldText: "alphaValue = 1", newText: "alphaValue = 99" };
    const failed = ["edit", change, "old text not found", true] as const;
    const text = digestAfter(historyOf(["read", { path }, "const alphaValue = 1;"], failed));
    expect(quotedIn(filesIn(text, path).sure)).toEqual(["const alphaValue = 1;"]);
  });

  it("learns from an option what a tool's call does that its arguments do not show", () => {
    const messages = longAfter(historyOf(["kb_put", { key: "notes/a.md", v: "The port is 7143." }, "stored"]));
    const linesBy = (pass: ReturnType<typeof digest>): readonly string[] => {
      const strategy = { name: "own", passes: [pass], trigger: { ratio: 1 }, lowWater: 0.7, keepFirstUser: true };
      const window = composeWindow({ messages, budget: 4_000, strategy });
      return quotedIn(filesIn(digestIn(window.messages), "notes/a.md").sure);
    };
    expect(linesBy(digest())).toEqual([]);
    const kb_put = ({ key, v }: { readonly [name: string]: unknown }) =>
      ({ kind: "write", path: String(key), text: String(v) }) as const;
    expect(linesBy(digest({ tools: { kb_put } }))).toEqual(["The port is 7143."]);
  });

  it("quotes what looks like its own signs", () => {
    const text = digestAfter(historyOf(["read", { path }, "const alphaValue = 1;\n--- a title?\n… 3\n […] last"]));
    expect(text).toContain("\n|--- a title?\n|… 3\n| […] last");
  });
});
