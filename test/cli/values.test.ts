/** Numbers on the command line: each flag's own kind, wrong ones refused by name, none that makes a command spin. */
import { expect, it } from "vitest";
import {
  ageOf,
  catalogue,
  countOf,
  intervalOf,
  numberOf,
  portOf,
  secondsOf,
  budgetListOf,
  tokensOf,
} from "../kit/inside/cli.ts";
import { chatLines, emptyStore, put, windrow } from "./stage.ts";

it("are read by their kind", () => {
  expect([countOf("--last", "20"), countOf("--last", "1_000")]).toEqual([20, 1_000]);
  expect([tokensOf("--budget", "16k"), tokensOf("--budget", "32000")]).toEqual([16_000, 32_000]);
  expect([secondsOf("--stale", "0"), secondsOf("--stale", "1.5"), secondsOf("--stale", undefined)]).toEqual([
    0,
    1_500,
    undefined,
  ]);
  expect([ageOf("--every", "2w"), ageOf("--every", "1"), ageOf("--every", "0.5h")]).toEqual([
    1_209_600_000, 86_400_000, 1_800_000,
  ]);
  expect([intervalOf("--interval", "0.01"), portOf("--http", "0"), numberOf("--failures", "percent", "12.5")]).toEqual([
    10, 0, 12.5,
  ]);
});

it("of tokens may have a comma between their thousands, where one number is meant", () => {
  expect(["32,000", "1,048,576", "900"].map((text) => tokensOf("--budget", text))).toEqual([32_000, 1_048_576, 900]);
  for (const text of ["32,00", "32,0000", "0,500", "32.000", "32,000k", ",000"])
    expect(() => tokensOf("--budget", text), text).toThrow("a number of tokens above 0");
});

it("in a list are told apart, and a comma that may be between thousands is refused", () => {
  expect(budgetListOf("-b", "16k,32000,16000")).toEqual([16_000, 32_000]);
  expect(budgetListOf("-b", "500, 800")).toEqual([500, 800]);
  for (const text of ["32,000", "16k,32,000", "1,048,576", "32,500"])
    expect(() => budgetListOf("-b", text), text).toThrow(
      /-b takes several numbers, separated by commas: "[\d,]+" would be/,
    );
  expect(() => budgetListOf("-b", "16k,32,000")).toThrow('"32,000" would be 2 of them. Write 32000 or 32k for one');
});

/** What a flag's errors say it is, by the word for its value in the help. */
const kinds: Readonly<Record<string, RegExp>> = {
  n: /^a whole number above 0, for example 20$|^a number of sessions from 0, /,
  ids: /^a message or a range of them, for example m12 or m12-m14$/,
  tokens: /^a number of tokens above 0, for example 32000 or 32k$/,
  seconds: /^a number of seconds from 0(?:\.01)?, /,
  age: /^an age(?: above 0)?, for example 30d, 24h or 90m$/,
  GB: /^a number of GB from 0, /,
  percent: /^a number of percent from 0 to 100, /,
  hours: /^a number of hours from 0, /,
  port: /^a port from 0 to 65535, /,
};

/** What a command needs beside the flag. */
const needs: Readonly<Record<string, string>> = {
  ...{ view: "latest", search: "x", similar: "x", backup: "nowhere", recall: "latest m1" },
  ...{ replay: "FILE", import: "FILE", compose: "FILE --budget 8k", archive: "--archive FILE" },
};

const flags: (readonly [name: string, flag: string, word: string])[] = [];
for (const { name } of catalogue) {
  const help = (await windrow([name, "--help"])).stdout;
  const found = help.matchAll(new RegExp(`(--[a-z-]+) <(${Object.keys(kinds).join("|")})>`, "g"));
  for (const [, flag = "", word = ""] of found) flags.push([name, flag, word]);
}

it("are looked for in the help of every command", () => expect(flags.length).toBeGreaterThan(30));

it.each(flags)("windrow %s %s <%s> says what it is", async (name, flag, word) => {
  const store = await emptyStore();
  const file = await put(store, "session.jsonl", chatLines(2));
  const needed = needs[name]?.split(" ").map((one) => (one === "FILE" ? file : one)) ?? [];
  const kindOf = async (value: string): Promise<string> => {
    const { status, stderr } = await windrow([name, ...needed, flag, value], { WINDROW_STORE: store });
    const [begin, end] = [`windrow: bad-option: ${flag} is `, `, not "${value}".\n`];
    expect([status, stderr.slice(0, begin.length), stderr.slice(-end.length)]).toEqual([2, begin, end]);
    return stderr.slice(begin.length, -end.length);
  };
  const kind = await kindOf("seven");
  expect(kind).toMatch(kinds[word]!);
  const none = /above 0|0\.01|m12/.test(kind) ? ["0"] : [];
  const suffixed = word === "tokens" ? [] : ["2k"];
  for (const value of ["-1", "1e3", "NaN", "Infinity", "9".repeat(30), ...none, ...suffixed])
    expect(await kindOf(value), value).toBe(kind);
});
