import { chmod, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { readTranscripts } from "windrow/transcript";
import { JsonLines } from "../kit/inside/transcript.ts";
import { temporaryFolder, written } from "./files.ts";
import { openaiChat, windrow } from "./fixtures.ts";

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

const manyLines = (count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({ role: "user", content: `message ${index} ${"é".repeat(index % 50)}` }),
  );

const refused = (code: string, words = "") => ({ code, message: expect.stringContaining(words) as string });

describe("what is no transcript", () => {
  it("a file that is not there, a folder, and reading that was aborted", async () => {
    await expect(readTranscripts(join(folder, "none.jsonl"))).rejects.toMatchObject(refused("input-not-found"));
    await expect(readTranscripts(folder)).rejects.toMatchObject(refused("bad-option", "is a folder"));
    const path = await written(folder, "long.jsonl", manyLines(100).join("\n"));
    await expect(readTranscripts(path, {}, AbortSignal.abort())).rejects.toMatchObject(refused("aborted"));
  });
  it.each(['{"role":"user"}', "a\nb", Buffer.from("a")])("the content %j in the path's place", async (content) => {
    await expect(readTranscripts(content as string)).rejects.toMatchObject({
      ...{
        code: "bad-option",
        message: expect.stringMatching(/^Transcripts are read .* not from its content\.$/) as string,
      },
    });
  });
  it.each([
    ["an empty file", "", "it is empty"],
    ["blank lines", "\n\n  \n", "it is empty"],
    ["prose", "# Title\n\nSome words.\n", "no line of it is JSON"],
    ["a log without end", "line of a log\n".repeat(5_000), "none of its first 1000 lines is JSON"],
    ["other JSON", '{"name":"x","version":"1.0.0"}\n', "it is JSON, but no session"],
    ["numbers", "1\n2\n3\n", "it is JSON, but no session"],
    ["a picture", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), "binary"],
  ])("%s", async (name, content, seen) => {
    const path = await written(folder, `${name}.jsonl`, content);
    await expect(readTranscripts(path)).rejects.toMatchObject(refused("not-a-transcript", seen));
  });
  it("gzip of which nothing can be read", async () => {
    const path = await written(folder, "bad.gz", Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]));
    await expect(readTranscripts(path)).rejects.toMatchObject(refused("input-unreadable"));
  });
  it.skipIf(process.getuid?.() === 0)("a file that may not be read", async () => {
    const path = await written(folder, "secret.jsonl", windrow.join("\n"));
    await chmod(path, 0);
    await expect(readTranscripts(path)).rejects.toMatchObject(refused("input-unreadable"));
  });
});

describe("half a file", () => {
  it("a torn last line is reported by its number", async () => {
    const text = manyLines(5).join("\n").slice(0, -4);
    const [session] = await readTranscripts(await written(folder, "torn.jsonl", text));
    expect(session?.messages).toHaveLength(4);
    expect(session?.problems).toEqual([{ line: 5, problem: "the file ends in the middle of this line" }]);
  });
  it("damaged lines are reported and the rest goes on, blank lines and CRLF counted", async () => {
    const [a, b, c] = manyLines(3);
    const text = `\uFEFF${a}\r\n\r\n{"role":"us\u0000\r\n${b}\r\nnonsense\r\n${c}\r\n`;
    const [session] = await readTranscripts(await written(folder, "damaged.jsonl", text));
    expect(session?.messages).toHaveLength(3);
    expect(session?.problems.map((problem) => problem.line)).toEqual([3, 5]);
  });
  it("a damaged first line does not hide the others", async () => {
    const text = ['{"role":"user","conte', ...manyLines(3)].join("\n");
    const [session] = await readTranscripts(await written(folder, "head.jsonl", text));
    expect(session?.messages).toHaveLength(3);
    expect(session?.problems.map((problem) => problem.line)).toEqual([1]);
  });
  it("gzip cut anywhere gives what was whole, and says where it broke", async () => {
    const lines = manyLines(2_000);
    const whole = gzipSync(lines.join("\n"));
    let before = 0;
    for (const share of [0.3, 0.6, 0.9, 0.999]) {
      const path = await written(folder, "cut.jsonl.gz", whole.subarray(0, Math.floor(whole.length * share)));
      const [session] = await readTranscripts(path);
      const read = session?.messages.length ?? 0;
      expect(read).toBeGreaterThan(before);
      before = read;
      expect(session?.messages.map((message) => message.parts)).toEqual(
        lines.slice(0, read).map((line) => [{ type: "text", text: (JSON.parse(line) as { content: string }).content }]),
      );
      expect(session?.problems.some((problem) => problem.problem.includes("gzip"))).toBe(true);
    }
    expect(before).toBeGreaterThan(1_900);
  });
  it("a cut JSON document gives its whole messages", async () => {
    const messages = manyLines(20).map((line) => JSON.parse(line) as object);
    for (const text of [JSON.stringify(messages), JSON.stringify({ messages }, null, 2)]) {
      for (const share of [0.4, 0.7, 0.95]) {
        const [session] = await readTranscripts(await written(folder, "half.json", text.slice(0, text.length * share)));
        const read = session?.messages.length ?? 0;
        expect(read).toBeGreaterThan(20 * share - 4);
        expect(read).toBeLessThan(20);
        expect(session?.messages.at(-1)?.parts).toMatchObject([
          { text: expect.stringContaining(`message ${read - 1} `) },
        ]);
        expect(session?.problems).toHaveLength(1);
      }
    }
  });
});

describe("what is a transcript", () => {
  it("is the same gzipped or not, whatever its name", async () => {
    const text = openaiChat.join("\n");
    const [plain] = await readTranscripts(await written(folder, "plain.gz", text));
    const [packed] = await readTranscripts(await written(folder, "packed.txt", gzipSync(text)));
    expect(packed?.messages).toEqual(plain?.messages);
    expect(plain?.id).toBe("plain");
  });
  it("reads gzip of several members", async () => {
    const [head, ...tail] = openaiChat;
    const bytes = Buffer.concat([gzipSync(`${head}\n`), gzipSync(tail.join("\n"))]);
    const [session] = await readTranscripts(await written(folder, "members.jsonl.gz", bytes));
    expect(session?.messages).toHaveLength(openaiChat.length);
  });
  it("keeps characters whole that fall on the border of two chunks", async () => {
    const content = "語😀é".repeat(60_000);
    const path = await written(folder, "wide.jsonl", `${JSON.stringify({ role: "user", content })}\n`);
    const [session] = await readTranscripts(path);
    expect(session?.messages[0]?.parts).toEqual([{ type: "text", text: content }]);
  });
  it("keeps line separators that are legal in JSON inside their line", async () => {
    const line = '{"role":"user","content":"a\u2028b\u2029c"}';
    const [session] = await readTranscripts(await written(folder, "separators.jsonl", line));
    expect(session?.messages[0]?.parts).toEqual([{ type: "text", text: "a\u2028b\u2029c" }]);
  });
  it("tells how far it is, in bytes of the file, and changes nothing in it", async () => {
    const text = manyLines(5_000).join("\n");
    const path = await written(folder, "progress.jsonl", text);
    const seen: { bytes: number; totalBytes: number }[] = [];
    await readTranscripts(path, { onProgress: (progress) => seen.push(progress) });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.at(-1)).toEqual({ bytes: Buffer.byteLength(text), totalBytes: Buffer.byteLength(text) });
    expect(await readFile(path, "utf8")).toBe(text);
  });
  it("names a session's own messages.jsonl by its folder", async () => {
    await mkdir(join(folder, "0a1b"));
    const [session] = await readTranscripts(await written(join(folder, "0a1b"), "messages.jsonl", windrow.join("\n")));
    expect(session?.id).toBe("0a1b");
  });
});

describe("lines that are too long", () => {
  it("are skipped with their number, and the next is read", () => {
    const lines = new JsonLines(20);
    for (const piece of ['{"a":1}\n{"b":"', "x".repeat(15), "x".repeat(15), '"}\n{"c":', "3}"]) lines.push(piece);
    const { entries, problems } = lines.end();
    expect(entries).toEqual([
      { line: 1, value: { a: 1 } },
      { line: 3, value: { c: 3 } },
    ]);
    expect(problems).toEqual([{ line: 2, problem: "the line has more than 20 characters" }]);
  });
  it("refuse a document, which has no next line", () => {
    const lines = new JsonLines(20);
    lines.push('[\n{"role":"user",');
    lines.push('"content":"0123456789"}]');
    expect(lines.refusal).toContain("more than 20 characters");
  });
});
