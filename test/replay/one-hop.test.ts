import { describe, expect, it } from "vitest";
import type { Edit, Message } from "windrow";
import type { Stub } from "windrow/window";
import { AtomReader, findReferences, MessageTokens, namedFiles, OneHop } from "../kit/inside/replay.ts";
import { calls, characters, result, user } from "./histories.ts";

const filler = Array.from({ length: 10 }, (_, at) => [
  calls(`f${at}`, "bash", { command: `make target-${at}` }),
  result(`f${at}`, "ok"),
]).flat();

/** m3 is the result on src/deep.ts, m5 the one on src/huge.ts; twenty messages follow. */
const history: readonly Message[] = [
  user("go"),
  calls("1", "read", { path: "src/deep.ts" }),
  result("1", "deepName lives here"),
  calls("2", "read", { path: "src/huge.ts" }),
  result("2", `${"filler line\n".repeat(2_000)}hugeName at the end\n${"filler line\n".repeat(2_000)}`),
  ...filler,
];
const call = calls("3", "grep", { words: "deepName hugeName" });
const messages = [...history, call];
const index = history.length;
const references = findReferences(messages, new MessageTokens(characters), new AtomReader()).get(index) ?? [];

function labelled(text: string): Message {
  return { ...user(text), status: "synthetic" };
}

function replaced(text: string, stubs: readonly Stub[]): Edit {
  return { kind: "replace", from: 2, to: 25, text, stubs, pass: "p", reason: "r", tokensBefore: 0, tokensAfter: 0 };
}

function recalled(window: readonly Message[], edits: readonly Edit[] = []): readonly string[] {
  const recalls = new OneHop(messages, characters).recallsFor(index, edits, window);
  return references.filter(recalls).map((reference) => reference.atom);
}

describe("one-hop recall", () => {
  it("brings nothing back where the window names nothing", () => {
    expect(recalled([labelled("messages left")])).toEqual([]);
  });

  it("recalls an id of few messages as it stands, without the words that are looked for", () => {
    expect(recalled([labelled("left: m3 and m5")])).toEqual(["deepName"]);
    expect(recalled([labelled("left: m2-m9")])).toEqual(["deepName"]);
  });

  it("does not believe a range that a reader cannot see into", () => {
    expect(recalled([labelled("read (12) m2-m25: …")])).toEqual([]);
  });

  it("recalls a file that is named by its path, however wide the range", () => {
    expect(recalled([labelled("bash (10) m7-m25\nread src/deep.ts (m2-m25)")])).toEqual(["deepName"]);
    expect(recalled([labelled("--- src/deep.ts (m2-m25)\n some line")])).toEqual(["deepName"]);
    expect(recalled([labelled("read src/other.ts (m2-m25)")])).toEqual([]);
  });

  it("reads an index of files under their folder", () => {
    const text = "files under src/ that recall takes by path: a/other.ts, deep.ts, …\nFiles stand below.";
    expect(recalled([labelled(text)])).toEqual(["deepName"]);
    expect(recalled([labelled(text.replace("deep.ts", "else.ts"))])).toEqual([]);
  });

  it("believes no name that only stands in quoted text, or in what is not Windrow's", () => {
    expect(recalled([labelled("digest\n read src/deep.ts m3")])).toEqual([]);
    expect(recalled([user("read src/deep.ts m3")])).toEqual([]);
  });

  it("recalls what a stub in the place of a result names by its id", () => {
    const edit: Edit = { ...replaced("[cut; recall m3]", []), kind: "stub", from: 3, to: 3 };
    const shown = [history[1], result("1", "[cut; recall m3]")] as Message[];
    expect(recalled(shown, [edit])).toEqual(["deepName"]);
    expect(recalled(shown.slice(0, 1), [edit])).toEqual([]);
  });
});

describe("files that left", () => {
  const counted = (window: readonly Message[]): ReturnType<typeof namedFiles> =>
    namedFiles(new OneHop(messages, characters), messages, index, [], window);

  it("count once each", () => {
    expect(counted([labelled("gone")])).toEqual({ named: 0, total: 2 });
    expect(counted([...history])).toEqual({ named: 0, total: 0 });
  });

  it("are named by path", () => {
    expect(counted([labelled("--- src/deep.ts (m2-m25)\nbash m7, m9")])).toEqual({ named: 1, total: 2 });
  });
});
