/** Numbers on the command line: each flag's own kind, wrong ones refused by name, none that makes a command spin. */
import { expect, it } from "vitest";
import { openStore } from "windrow/store";
import {
  ageOf,
  countOf,
  intervalOf,
  messagesOf,
  numberOf,
  portOf,
  secondsOf,
  tokenListOf,
  tokensOf,
} from "../kit/inside/cli.ts";
import { chatLines, newFolder, put, windrow } from "./stage.ts";

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
  expect(tokenListOf("-b", "16k,32000,16000")).toEqual([16_000, 32_000]);
  expect(tokenListOf("-b", "500, 800")).toEqual([500, 800]);
  for (const text of ["32,000", "16k,32,000", "1,048,576", "32,500"])
    expect(() => tokenListOf("-b", text), text).toThrow(
      /-b takes several numbers, separated by commas: "[\d,]+" would be/,
    );
  expect(() => tokenListOf("-b", "16k,32,000")).toThrow('"32,000" would be 2 of them. Write 32000 or 32k for one');
});

it.each([
  ["replay", "FILE"],
  ["bench", "loop"],
])("windrow %s refuses --budget 32,000", async (command, subject) => {
  const { status, stderr } = await windrow([command, subject, "--budget", "32,000"]);
  expect([status, stderr]).toEqual([2, expect.stringContaining("Write 32000 or 32k")]);
});

/** The numeric flags of all commands, with what their errors say they are. */
const flags: readonly (readonly [argv: readonly string[], kind: string])[] = [
  [["view", "latest", "--last"], "a whole number above 0, for example 20"],
  [["view", "latest", "--message"], "a message or a range of them, for example m12 or m12-m14"],
  [["logs", "--last"], "a whole number above 0, for example 20"],
  [["search", "x", "--limit"], "a whole number above 0, for example 20"],
  [["similar", "x", "--limit"], "a whole number above 0, for example 20"],
  [["top", "--once", "--limit"], "a whole number above 0, for example 20"],
  [["backup", "nowhere", "--keep"], "a whole number above 0, for example 20"],
  [["compose", "latest", "--at"], "a whole number above 0, for example 20"],
  [["compose", "latest", "--session"], "a whole number above 0, for example 20"],
  [["compose", "latest", "--budget"], "a number of tokens above 0, for example 32000 or 32k"],
  [["replay", "FILE", "--budget"], "a number of tokens above 0, for example 32000 or 32k"],
  [["bench", "loop", "--budget"], "a number of tokens above 0, for example 32000 or 32k"],
  [["recall", "latest", "m1", "--max-tokens"], "a number of tokens above 0, for example 32000 or 32k"],
  [["replay", "FILE", "--far"], "a number of tokens above 0, for example 32000 or 32k"],
  [["top", "--interval"], "a number of seconds from 0.01, for example 2"],
  [["logs", "--follow", "--interval"], "a number of seconds from 0.01, for example 2"],
  [["monitor", "--interval"], "a number of seconds from 0.01, for example 2"],
  [["monitor", "--once", "--stale"], "a number of seconds from 0, for example 300"],
  [["monitor", "--once", "--timeout"], "a number of seconds from 0, for example 300"],
  [["monitor", "--once", "--disk-warning"], "a number of GB from 0, for example 10"],
  [["monitor", "--once", "--disk-critical"], "a number of GB from 0, for example 10"],
  [["monitor", "--once", "--failures"], "a number of percent from 0 to 100, for example 10"],
  [["monitor", "--once", "--stuck"], "a number of sessions from 0, for example 10"],
  [["monitor", "--once", "--long"], "a number of hours from 0, for example 10"],
  [["monitor", "--metrics"], "a port from 0 to 65535, for example 9464"],
  [["mcp", "--http"], "a port from 0 to 65535, for example 9464"],
  [["serve", "--port"], "a port from 0 to 65535, for example 9464"],
  [["gateway", "--port"], "a port from 0 to 65535, for example 9464"],
  [["gateway", "--budget"], "a number of tokens above 0, for example 32000 or 32k"],
  [["import", "FILE", "--max-bytes"], "a whole number above 0, for example 20"],
  [["import", "FILE", "--max-entries"], "a whole number above 0, for example 20"],
  [["replay", "FILE", "--max-bytes"], "a whole number above 0, for example 20"],
  [["replay", "FILE", "--max-entries"], "a whole number above 0, for example 20"],
  [["compose", "FILE", "--budget", "8k", "--max-bytes"], "a whole number above 0, for example 20"],
  [["compose", "FILE", "--budget", "8k", "--max-entries"], "a whole number above 0, for example 20"],
  [["usage", "--budget"], "a number of tokens above 0, for example 32000 or 32k"],
  [["cleanup", "--closed-after"], "an age, for example 30d, 24h or 90m"],
  [["monitor", "--once", "--closed-after"], "an age, for example 30d, 24h or 90m"],
  [["cleanup", "--compress-after"], "an age, for example 30d, 24h or 90m"],
  [["cleanup", "--older-than"], "an age, for example 30d, 24h or 90m"],
  [["archive", "--archive", "FILE", "--older-than"], "an age, for example 30d, 24h or 90m"],
  [["cleanup", "--trash-for"], "an age, for example 30d, 24h or 90m"],
  [["cleanup", "--every"], "an age above 0, for example 30d, 24h or 90m"],
];

it.each(flags)("%j says what it is", async (argv, kind) => {
  const folder = await newFolder();
  await (await openStore(folder)).close();
  const file = await put(folder, "session.jsonl", chatLines(2));
  const store = argv[0] === "replay" || argv[0] === "bench" ? [] : ["--store", folder];
  const command = argv.map((word) => (word === "FILE" ? file : word));
  const flag = argv.at(-1) ?? "";
  const none = /above 0|0\.01|m12/.test(kind) ? ["0"] : [];
  const suffixed = kind.includes("32k") ? [] : ["2k"];
  for (const value of ["seven", "-1", "1e3", "NaN", "Infinity", "9".repeat(30), ...none, ...suffixed]) {
    const { status, stderr } = await windrow([...command, value, ...store]);
    expect([status, stderr], value).toEqual([2, `windrow: bad-option: ${flag} is ${kind}, not "${value}".\n`]);
  }
});

it("takes messages by their numbers", () => {
  expect(["m12", "12", "m12-m14", "12-14"].map((text) => messagesOf("--message", text))).toEqual([
    { from: 12, to: 12 },
    { from: 12, to: 12 },
    { from: 12, to: 14 },
    { from: 12, to: 14 },
  ]);
});

it("every flag of a number is among these", async () => {
  const { stdout } = await windrow(["--help"]);
  const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = ""]) => name).filter((name) => name !== "help");
  const told = new Set(flags.map(([argv]) => `${argv[0]} ${argv.at(-1)}`));
  for (const name of names) {
    const help = (await windrow([name, "--help"])).stdout;
    const numeric = /(--[a-z-]+) <(?:n|ids|tokens|seconds|age|GB|percent|hours|port)>/g;
    for (const [, flag = ""] of help.matchAll(numeric)) expect(told, `${name} ${flag}`).toContain(`${name} ${flag}`);
  }
});
