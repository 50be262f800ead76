/** No byte that a terminal obeys, or that makes a text read as another, leaves any command, whatever a session holds. */
import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { catalogue, run } from "../kit/inside/cli.ts";
import { temporaryFolder } from "../kit/stores.ts";
import { commands, filledPlace, refusals } from "./every-command.ts";
import type { Place } from "./every-command.ts";
import { newFolder, windrow } from "./stage.ts";

/** Title, clear screen, clipboard, concealed text, line ends of every kind, C1, bidi, tags, half a character. */
const hostile =
  "\u001b]0;PWNED\u0007\u001b[2J\u001b]52;c;aGk=\u0007\u001b[8m\r\nFORGED line\rFORGED\u2028FORGED\u2029\u0085" +
  "\u0000\u007f\u009b31m\u202e\u2066\u061c\u200e\u200b\u{e0041}\ud800 end";

/** The program's own: colours, and the screen cleared by `top`. */
const own = /\u001b\[(?:0|1|2|22|39|3[1-6])m|^\u001b\[H\u001b\[J/g;

const obeyed =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]|\p{Cs}/u;

let place: Place;
let withJson: ReadonlySet<string>;
beforeAll(async () => {
  const helps = await Promise.all(catalogue.map(async ({ name }) => [name, (await windrow([name, "--help"])).stdout]));
  withJson = new Set(helps.flatMap(([name = "", help]) => (help?.includes("--json") ? [name] : [])));
  place = await filledPlace(await temporaryFolder(), hostile, { name: "a\u001b]0;PWNED\u0007\u202e\nFORGED.jsonl" });
  // What a crash or another program left: a line that is none, and a value that is none where a time belongs.
  const { store, file, open, finished } = place;
  await appendFile(file, '\n{"torn": "\u001b[2J\u202e\n');
  await appendFile(join(store, "running", open, "messages.jsonl"), "\u001b]0;PWNED\u0007\u202e\n");
  const metadata = join(store, "completed", finished, "metadata.json");
  const text = await readFile(metadata, "utf8");
  await writeFile(metadata, text.replaceAll(/"created_at": ?"[^"]*"/g, `"created_at": ${JSON.stringify(hostile)}`));
}, 120_000);

afterAll(() => rm(place.beside, { recursive: true, force: true }));

const typed = [...new Set([...Object.keys(commands), ...Object.keys(refusals)])];

describe("a hostile session", () => {
  it("is shown by every command there is", () => {
    expect([...typed].sort()).toEqual([...catalogue.map(({ name }) => name), "completion"].sort());
  });

  it.each(typed)(
    "is harmless in what %s writes",
    async (name) => {
      for (const argvOf of [...(commands[name] ?? []), ...(refusals[name] ?? [])]) {
        const argv = [name, ...argvOf(place)];
        const json = withJson.has(name) ? [{ full: [...argv, "--json"], isTTY: false }] : [];
        for (const { full, isTTY } of [{ full: argv, isTTY: false }, { full: argv, isTTY: true }, ...json]) {
          const { stdout, stderr } = await windrow(full, { TERM: "xterm", ...(isTTY && { FORCE_COLOR: "1" }) }, isTTY);
          // What is exported into a pipe or a file is the session itself, for programs.
          const exported = name === "export" && !isTTY;
          for (const text of exported ? [stderr] : [stdout, stderr]) {
            const found = obeyed.exec(text.replaceAll(own, ""));
            const where = found ? JSON.stringify(text.slice(Math.max(0, found.index - 120), found.index + 40)) : "";
            expect(where, `${full.join(" ")} ${isTTY ? "on a terminal" : "into a pipe"}`).toBe("");
            expect(/^FORGED.*/m.exec(text.replaceAll(own, ""))?.[0], full.join(" ")).toBeUndefined();
          }
        }
      }
    },
    120_000,
  );

  it("keeps its values in JSON", async () => {
    const folder = await newFolder();
    const manager = await SessionManager.open({ store: folder });
    const session = await manager.create();
    const text = "a\u2028b\u009b2J\u202ec\u{e0041}\u007f\ufeff";
    await session.append({ role: "user", parts: [{ type: "text", text }] });
    await manager.close();
    const { stdout } = await windrow(["view", "latest", "--json", "--messages", "--store", folder]);
    expect(JSON.parse(stdout)).toMatchObject({ messages: { shown: [{ text }] } });
    const exported = await windrow(["export", "latest", "--store", folder]);
    const [file, other] = [join(folder, "exported.jsonl"), join(folder, "other")];
    await writeFile(file, exported.stdout);
    expect(await windrow(["import", file, "--store", other])).toMatchObject({ status: 0 });
    const back = await windrow(["view", "latest", "--json", "--messages", "--store", other]);
    expect(JSON.parse(back.stdout)).toMatchObject({ messages: { shown: [{ text }] } });
  });

  it("is harmless in the lines of a monitor that goes on", async () => {
    const folder = await newFolder();
    const manager = await SessionManager.open({ store: folder });
    const session = await manager.create({ taskKey: { repo: hostile } });
    await session.finish("failed", hostile);
    await manager.close();
    const stop = new AbortController();
    let written = "";
    const stream = { write: (text: string) => ((written += text), stop.abort()) };
    const argv = ["monitor", "--store", folder, "--failures", "0"];
    await run(argv, { stdout: stream, stderr: stream, env: {} }, stop.signal);
    expect(written).toContain("failed");
    expect(obeyed.exec(written)).toBeNull();
  });
});
