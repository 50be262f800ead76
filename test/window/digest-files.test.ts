/** File views in the digest: what it shows of a file is what the file holds, as far as the session can know. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message, Strategy } from "windrow";
import { digest } from "windrow/window";
import { HistoryBuilder, messageText } from "../kit/inside/message.ts";
import type { ToolCallPart } from "../kit/inside/message.ts";
import { epochOf, epochRecord, factsOf } from "../kit/inside/window.ts";
import type { DigestOptions } from "../kit/inside/window.ts";

const filler = Array.from({ length: 30 }, (_, line) => `const filler_${line} = compute("${line}");`).join("\n");

function longAfter(first: (history: HistoryBuilder) => void): readonly Message[] {
  const history = new HistoryBuilder().user("Mend the parser.");
  first(history);
  for (let step = 0; step < 14; step++) {
    history.assistant("", [`f${step}`, "read", { path: `lib/other-${step}.ts` }]).result(`f${step}`, filler);
  }
  return history.user("Go on.").messages;
}

function readFrom(callId: string, offset: number): ToolCallPart {
  return { type: "tool-call", callId, name: "read", args: { path: "src/a.ts", offset, limit: 2 } };
}

function strategyWith(options: DigestOptions): Strategy {
  return { name: "own", passes: [digest(options)], trigger: { ratio: 1 }, lowWater: 0.7, keepFirstUser: true };
}

function digestOf(messages: readonly Message[], options: DigestOptions = {}): string {
  const { messages: window } = composeWindow({ messages, budget: 4_000, strategy: strategyWith(options) });
  return window.map(messageText).find((text) => text.startsWith("[Windrow: a record")) ?? "";
}

/** The lines under titles that name a path, title and marks left out. */
function under(text: string, path: string): readonly string[] {
  const groups = text.split("\n--- ").filter((group) => group.startsWith(path));
  return groups
    .flatMap((group) => group.split("\n").slice(1))
    .filter((line) => /^[ |]/.test(line))
    .map((line) => line.slice(1));
}

describe("the digest's files", () => {
  it("joins partial reads in the file's order, whatever order they came in", () => {
    const text = digestOf(
      longAfter((history) => {
        history.add("assistant", [readFrom("b", 40)]);
        history.result("b", "export function laterOne() {\n  return callLater();");
        history.add("assistant", [readFrom("a", 10)]);
        history.result("a", "export function earlierOne() {\n  return callEarlier();");
      }),
    );
    const lines = under(text, "src/a.ts");
    expect(lines.indexOf("  return callEarlier();")).toBeGreaterThanOrEqual(0);
    expect(lines.indexOf("  return callLater();")).toBeGreaterThan(lines.indexOf("  return callEarlier();"));
    expect(text).toContain("\n… 10\n export function earlierOne() {");
    expect(text).toContain("\n… 40\n export function laterOne() {");
  });

  it("shows an edited file whole: what stood around the edit, then what it put in, without a gap", () => {
    const text = digestOf(
      longAfter((history) => {
        history.assistant("", ["r", "read", { path: "src/a.ts" }]);
        history.result("r", "const alphaValue = 1;\nconst betaValue = 2;\nconst gammaValue = 3;");
        const change = { path: "src/a.ts", oldText: "betaValue = 2", newText: "betaValue = 20" };
        history.assistant("", ["e", "edit", change]).result("e", "Successfully replaced text in src/a.ts.");
      }),
    );
    expect(text).toContain("\n const alphaValue = 1;\n const betaValue = 20;\n const gammaValue = 3;");
    expect(text).not.toContain("betaValue = 2;");
    expect(text, "an acknowledgement needs no lines").not.toContain("Successfully replaced");
  });

  it("takes a failed edit for no change", () => {
    const text = digestOf(
      longAfter((history) => {
        history.assistant("", ["r", "read", { path: "src/a.ts" }]).result("r", "const alphaValue = 1;");
        const change = { path: "src/a.ts", oldText: "alphaValue = 1", newText: "alphaValue = 99" };
        history.assistant("", ["e", "edit", change]).result("e", "old text not found", true);
      }),
    );
    expect(under(text, "src/a.ts")).toContain("const alphaValue = 1;");
    expect(under(text, "src/a.ts")).not.toContain("const alphaValue = 99;");
  });

  it("says so where a shell command may have changed a file since", () => {
    const text = digestOf(
      longAfter((history) => {
        history.assistant("", ["r", "read", { path: "src/a.ts" }]).result("r", "const alphaValue = 1;");
        history.assistant("", ["o", "read", { path: "src/b.ts" }]).result("o", "const otherValue = 2;");
        history.assistant("", ["s", "bash", { command: "sed -i 's/alpha/omega/' src/a.ts" }]).result("s", "");
      }),
    );
    expect(text).toMatch(/^--- src\/a\.ts \(m3; m7 may have changed it since\)$/m);
    expect(text).toMatch(/^--- src\/b\.ts \(m5\)$/m);
  });

  it("reads what cat, sed and grep show of a file, and what a here-document puts into one", () => {
    const text = digestOf(
      longAfter((history) => {
        history.assistant("", ["w", "bash", { command: "cat > src/new.ts <<'EOF'\nconst writtenHere = 1;\nEOF" }]);
        history.result("w", "");
        history.assistant("", ["c", "bash", { command: "cd src && sed -n '20,21p' old.ts" }]);
        history.result("c", "const twentiethLine = 20;\nconst nextLine = 21;");
        history.assistant("", ["g", "bash", { command: "grep -n 'needle' src/old.ts" }]);
        history.result("g", "77:const needle_found = true;\n99:const needle_again = true;");
      }),
    );
    expect(under(text, "src/new.ts")).toContain("const writtenHere = 1;");
    const old = under(text, "src/old.ts");
    expect(old).toContain("const twentiethLine = 20;");
    expect(old).toContain("const needle_found = true;");
    expect(text).toContain("\n… 77\n const needle_found = true;");
  });

  it("learns from an option what a tool's call does that its arguments do not show", () => {
    const messages = longAfter((history) => {
      history.assistant("", ["k", "kb_put", { key: "notes/a.md", v: "The port is 7143." }]).result("k", "stored");
    });
    expect(under(digestOf(messages), "notes/a.md")).toEqual([]);
    const text = digestOf(messages, {
      tools: {
        kb_put: ({ key, v }) => {
          return typeof key === "string" && typeof v === "string" ? { kind: "write", path: key, text: v } : undefined;
        },
      },
    });
    expect(under(text, "notes/a.md")).toEqual(["The port is 7143."]);
  });

  it("goes on from its record in the log as if nothing had happened", () => {
    const messages = longAfter((history) => {
      history.assistant("", ["r", "read", { path: "src/a.ts" }]);
      history.result("r", "const alphaValue = 1;\n--- a title?\n… 3\n […] last");
    });
    const first = composeWindow({ messages: messages.slice(0, -6), budget: 4_000 });
    const record = epochRecord(
      { state: first.state, historyTokens: 0 },
      factsOf(first.report),
      "2026-01-01T00:00:00.000Z",
    );
    const revived = epochOf(JSON.parse(JSON.stringify(record.data)));
    const more = [...messages, ...longAfter(() => {}).slice(1)].map((message, n) => ({ ...message, id: `n${n}` }));
    const went = composeWindow({ messages: more, budget: 4_000, state: first.state });
    const resumed = composeWindow({ messages: more, budget: 4_000, state: revived?.state });
    expect(went.report.opened).toBeDefined();
    expect(resumed.messages).toEqual(went.messages);
    expect(resumed.messages.map(messageText).join("\n")).toContain("\n|--- a title?\n|… 3\n| […] last");
  });
});
