import { describe, expect, it } from "vitest";
import { supersede } from "windrow/window";
import { HistoryBuilder } from "../../kit/inside/message.ts";
import { results, windowBy } from "./one-pass.ts";

const long = (word: string): string => `${word} `.repeat(200);

describe("supersede", () => {
  const pass = supersede({ when: "always" });

  it("gives the older result of the same call to the newer, whatever the order of its arguments", () => {
    const history = new HistoryBuilder().user("watch the file");
    history.assistant("", ["a", "read", { path: "x", mode: "all" }]).result("a", long("old"));
    history.assistant("", ["b", "read", { path: "y", mode: "all" }]).result("b", long("other"));
    history.assistant("", ["c", "read", { mode: "all", path: "x" }]).result("c", long("new"));
    expect(results(windowBy(pass, history.messages))).toEqual([
      "[Windrow: an older result of read; the newer is m7; recall m3 shows the whole of this one]",
      long("other"),
      long("new"),
    ]);
  });

  it("never lets an error take the place of a result", () => {
    const history = new HistoryBuilder().user("watch the file");
    history.assistant("", ["a", "read", { path: "x" }]).result("a", long("old"));
    history.assistant("", ["b", "read", { path: "x" }]).result("b", long("Error"), true);
    expect(results(windowBy(pass, history.messages))).toEqual([long("old"), long("Error")]);
  });

  it("gives the older dump of the same screen to the newer, also where the arguments differ", () => {
    const dump = (title: string, name: string): string =>
      JSON.stringify({
        windowTitle: title,
        elements: Array.from({ length: 30 }, (_, at) => ({ role: "AXButton", title: `${name} ${at}` })),
      });
    const history = new HistoryBuilder().user("click around");
    history.assistant("", ["a", "ui", { depth: "1" }]).result("a", dump("Mail", "old"));
    history.assistant("", ["b", "ui", { depth: "1", app: "Notes" }]).result("b", dump("Notes", "other"));
    history.assistant("", ["c", "ui", { depth: "3" }]).result("c", dump("Mail", "new"));
    const shown = results(windowBy(pass, history.messages));
    expect(shown[0]).toBe("[Windrow: an older result of ui; the newer is m7; recall m3 shows the whole of this one]");
    expect(shown.slice(1)).toEqual([dump("Notes", "other"), dump("Mail", "new")]);
  });
});
