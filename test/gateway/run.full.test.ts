/** `windrow gateway run`, as a process: what its command gets, how both end, and a gateway that is killed. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dist } from "../kit/build.ts";
import { startFake } from "./fake/fake.ts";
import type { Fake } from "./fake/fake.ts";

let folder: string;
let fake: Fake;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-run-"));
  fake = await startFake();
});

afterEach(async () => {
  await fake.close();
  await rm(folder, { recursive: true, force: true });
});

interface Running {
  readonly child: ChildProcess;
  /** The next line of its standard output. */
  readonly line: () => Promise<string>;
  readonly ended: Promise<readonly [code: number | null, signal: string | null, errors: string]>;
}

/** Runs `windrow gateway run` with a script of Node's behind the dashes. */
async function run(
  script: string,
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<Running> {
  const file = join(folder, "script.mjs");
  await writeFile(file, script);
  const words = [join(dist, "cli/main.js"), "gateway", ...flags, "run", "--store", join(folder, "store"), "--"];
  const child = spawn(process.execPath, [...words, process.execPath, file], {
    env: { PATH: process.env["PATH"], HOME: folder, ANTHROPIC_BASE_URL: fake.url, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [said, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = once(child, "close").then(
    ([code, signal]) => [code, signal, errors] as [number | null, string | null, string],
  );
  return {
    child,
    ended,
    line: async () => {
      while (!said.includes("\n")) {
        const gone = await Promise.race([once(child.stdout, "data").then(() => undefined), ended]);
        if (gone && !said.includes("\n")) throw new Error(`It ended: ${JSON.stringify(gone)}`);
      }
      const [first = ""] = said.split("\n", 1);
      said = said.slice(first.length + 1);
      return first;
    },
  };
}

/** Whether anybody answers at an address. */
const isUp = (url: string): Promise<boolean> =>
  fetch(`${url}/-/health`).then(
    (answer) => answer.ok,
    () => false,
  );

const ask = `
const url = process.env.ANTHROPIC_BASE_URL;
const body = JSON.stringify({ model: "m", max_tokens: 9, tools: [{ name: "t", input_schema: {} }], messages: [{ role: "user", content: "Hi." }] });
const ask = async () => (await (await fetch(url + "/v1/messages", { method: "POST", headers: { "content-type": "application/json" }, body })).json()).content[0].text;
`;

describe("windrow gateway run", () => {
  it("points its command at a gateway, whose upstream is the address that was set, and passes the status on", async () => {
    const { line, ended } = await run(`${ask} console.log(url); console.log(await ask()); process.exitCode = 7;`);
    const url = await line();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(url).not.toBe(fake.url);
    expect(await line()).toBe("OK done.");
    const kept = `1 call kept in ${join(folder, "store")}`;
    expect(await ended).toEqual([
      7,
      null,
      `windrow: ${kept}; look: windrow view latest --store ${join(folder, "store")}\n`,
    ]);
    expect(fake.turns()).toHaveLength(1);
    expect(await isUp(url)).toBe(false);
  });

  it("says that no call came, and nothing with --json", async () => {
    expect((await (await run("")).ended)[2]).toBe("windrow: no answered call passed through the gateway\n");
    expect((await (await run("", {}, ["--json"])).ended)[2]).toBe("");
  });

  it("hands signals on, and tells by its status which one ended the command", async () => {
    const { child, line, ended } = await run(
      "console.log(process.env.ANTHROPIC_BASE_URL); setInterval(() => {}, 1000);",
    );
    const url = await line();
    child.kill("SIGTERM");
    expect((await ended)[0]).toBe(143);
    expect(await isUp(url)).toBe(false);
  });

  it("leaves no gateway behind when it is killed itself", async () => {
    const { child, line } = await run("console.log(process.env.ANTHROPIC_BASE_URL); setInterval(() => {}, 1000);");
    const url = await line();
    expect(await isUp(url)).toBe(true);
    child.kill("SIGKILL");
    await expect.poll(() => isUp(url), { timeout: 10_000 }).toBe(false);
  });

  it("starts a gateway that was killed again on the same port", async () => {
    const script = `${ask}
const { createInterface } = await import("node:readline");
const { readdirSync, readFileSync } = await import("node:fs");
console.log(await ask());
const mine = readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).find((name) => {
  try {
    const words = readFileSync("/proc/" + name + "/cmdline", "utf8").split("\\0");
    return words.includes("--tied") && readFileSync("/proc/" + name + "/status", "utf8").includes("PPid:\\t" + process.ppid);
  } catch { return false; }
});
process.kill(Number(mine), "SIGKILL");
let answer;
while (!answer) answer = await ask().catch(() => undefined);
console.log(answer);`;
    const { line, ended } = await run(script);
    expect(await line()).toBe("OK done.");
    expect(await line()).toBe("OK done.");
    const errors = expect.stringMatching(
      /started again, 1 times\nwindrow: the calls are kept in .*; look: windrow view latest/,
    );
    expect(await ended).toEqual([0, null, errors]);
  });

  it("says what is wrong with a command that is missing, or that there is not, and with a gateway that cannot start", async () => {
    const wrong = async (...words: readonly string[]): Promise<readonly [number | null, string]> => {
      const child = spawn(process.execPath, [join(dist, "cli/main.js"), "gateway", "run", ...words], {
        env: { PATH: process.env["PATH"], HOME: folder },
        cwd: folder,
        stdio: ["ignore", "ignore", "pipe"],
      });
      let errors = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
      const [code] = (await once(child, "close")) as [number | null];
      return [code, errors];
    };
    expect(await wrong()).toEqual([2, expect.stringContaining("A command is missing")]);
    expect(await wrong("--", "no-such-command-at-all")).toEqual([
      2,
      expect.stringContaining("there is no such command"),
    ]);
    const bad = await wrong("--upstream", "x=ftp://a", "--", "true");
    expect(bad).toEqual([2, expect.stringMatching(/The gateway does not start: .*The upstream "x" needs/)]);
    expect((await readdir(folder)).filter((name) => name !== "contexts")).toEqual([]);
  });
});
