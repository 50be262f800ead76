import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Message, Part } from "windrow";
import { countTools, estimate } from "windrow/testing";
import { chars4Ceil, countMessage, countPart, imageSize } from "../kit/inside/tokens.ts";

/** A PNG of these dimensions; the checksums are left out, for only the header is read. */
function png(width: number, height: number, bytes = 0): string {
  const header = Buffer.alloc(25);
  header.writeUInt32BE(13, 0);
  header.write("IHDR", 4, "latin1");
  header.writeUInt32BE(width, 8);
  header.writeUInt32BE(height, 12);
  const body = deflateSync(Buffer.alloc(10));
  const file = [Buffer.from("89504e470d0a1a0a", "hex"), header, body, Buffer.alloc(bytes, 7)];
  return Buffer.concat(file).toString("base64");
}

function jpeg(width: number, height: number): string {
  const comment = Buffer.concat([Buffer.from("fffe0012", "hex"), Buffer.alloc(16, 0x20)]);
  const frame = Buffer.from("ffc2001108000000000301220002110103110100", "hex");
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from("ffd8", "hex"), comment, Buffer.from("ff", "hex"), frame]).toString("base64");
}

function riff(kind: string, body: Buffer): string {
  const head = Buffer.from(`RIFF\0\0\0\0WEBP${kind}\0\0\0\0`, "latin1");
  return Buffer.concat([head, body, Buffer.alloc(9)]).toString("base64");
}

function image(fields: Partial<Extract<Part, { type: "image" }>>): Part {
  return { type: "image", mediaType: "image/png", ...fields };
}

describe("imageSize", () => {
  it.each([
    ["PNG", png(640, 480), 640, 480],
    ["JPEG", jpeg(1_024, 768), 1_024, 768],
    ["GIF", Buffer.from("474946383961800010000000", "hex").toString("base64"), 128, 16],
    ["WebP", riff("VP8X", Buffer.from("000000007f02003f0100", "hex")), 640, 320],
    ["lossless WebP", riff("VP8L", Buffer.from("2f7fc24f0000", "hex")), 640, 320],
    ["simple WebP", riff("VP8 ", Buffer.from("0000009d012a80024001", "hex")), 640, 320],
    ["a data: URI", `data:image/png;base64,${png(3, 4)}`, 3, 4],
  ])("reads the header of %s", (_, data, width, height) => expect(imageSize(data)).toEqual({ width, height }));

  it.each(["", "data:", "!!!!", "iVBORw0KGgo=", png(0, 5), Buffer.from("%PDF-1.7").toString("base64"), "/9j/4AAQ"])(
    "answers nothing for %j",
    (data) => {
      expect(imageSize(data)).toBeUndefined();
    },
  );
});

describe("countPart", () => {
  it("counts an image by its dimensions, given or read, and not by its length", () => {
    const data = png(750, 100);
    expect(countPart(estimate, image({ width: 750, height: 100, data: "A".repeat(9_000) }))).toBe(100);
    expect(countPart(estimate, image({ data }))).toBe(100);
    expect(countPart(estimate, image({ url: `data:image/png;base64,${data}` }))).toBe(100);
    expect(countPart(estimate, image({ data: png(750, 100, 500_000) }))).toBe(100);
    expect(countPart(chars4Ceil, image({ data }))).toBe(100);
  });

  it("counts a 3 MB PNG at 5,000 tokens or less in an image, a file and a result", () => {
    const data = png(4_000, 3_000, 3_000_000);
    const file: Part = { type: "file", mediaType: "image/png", data };
    const url = `data:image/png;base64,${data}`;
    const result: Part = { type: "tool-result", callId: "1", content: [image({ url }) as never] };
    for (const part of [image({ data }), file, result]) {
      expect(countPart(estimate, part)).toBeGreaterThan(1_000);
      expect(countPart(estimate, part)).toBeLessThanOrEqual(5_000);
    }
  });

  it("counts an image of unknown size like one of about a megapixel", () => {
    expect(countPart(estimate, image({ url: "https://example.org/picture.png" }))).toBeGreaterThan(1_000);
    expect(countPart(estimate, image({ data: "broken!" }))).toBeGreaterThan(1_000);
  });

  it("counts every kind of part above 0", () => {
    const parts: readonly Part[] = [
      { type: "text", text: "x" },
      { type: "reasoning", text: "x" },
      image({}),
      { type: "file", mediaType: "application/pdf", url: "https://example.org/a.pdf" },
      { type: "file", mediaType: "application/pdf", data: "" },
      { type: "tool-call", callId: "1", name: "f", args: {} },
      { type: "tool-result", callId: "1", content: "" },
      { type: "tool-result", callId: "1", content: [] },
      { type: "opaque", kind: "host/thing", data: null },
    ];
    for (const part of parts) expect(countPart(estimate, part), part.type).toBeGreaterThan(0);
  });

  it("counts an unknown part by its serialised size", () => {
    const unknown = { type: "server_block", body: "several words of content ".repeat(100) };
    expect(countPart(estimate, unknown as unknown as Part)).toBeGreaterThan(300);
  });

  it("counts the raw text of a call that was cut off, and not its empty arguments", () => {
    const argsText = `{"text":"${"word ".repeat(200)}`;
    const call: Part = { type: "tool-call", callId: "1", name: "write", args: {}, argsText };
    expect(countPart(estimate, call)).toBeGreaterThan(150);
  });

  it("caps a file at what a request can hold", () => {
    const pdf: Part = { type: "file", mediaType: "application/pdf", data: "A".repeat(20_000_000) };
    expect(countPart(estimate, pdf)).toBeLessThan(301_000);
  });
});

describe("countMessage and countTools", () => {
  it("counts framing and every part", () => {
    const empty: Message = { id: "1", role: "user", parts: [] };
    const full: Message = {
      ...empty,
      parts: [{ type: "text", text: "Fix the bug" }, image({ width: 750, height: 10 })],
    };
    expect(countMessage(estimate, empty)).toBeGreaterThan(0);
    expect(countMessage(estimate, full)).toBe(countMessage(estimate, empty) + estimate.count("Fix the bug") + 10);
  });

  it("counts tools by their definitions", () => {
    const schema = { type: "object", properties: { path: { type: "string", description: "Where the file is" } } };
    expect(countTools(estimate, [])).toBe(0);
    expect(countTools(estimate, [{ name: "read", inputSchema: schema }])).toBeGreaterThan(
      countTools(estimate, [{ name: "read" }]),
    );
  });
});
