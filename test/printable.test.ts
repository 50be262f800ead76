/** Text made printable, and addresses without their secrets. */
import { describe, expect, it } from "vitest";
import { parseAddress, printable, printableLines, withoutSecrets } from "./kit/inside/ground.ts";

describe("printable", () => {
  it.each([
    ["a title", "\u001b]0;PWNED\u0007", String.raw`\u001b]0;PWNED\u0007`],
    ["a cleared screen, also by a C1 control", "\u001b[2J\u009b2J", String.raw`\u001b[2J\u009b2J`],
    ["line ends and tabs", "a\nb\r\nc\td", String.raw`a\nb\r\nc\td`],
    ["other line ends", "a\u0085b\u2028c\u2029d\u000be", String.raw`a\u0085b\u2028c\u2029d\u000be`],
    ["bidirectional controls", "\u202eevil\u2066\u061c\u200f", String.raw`\u202eevil\u2066\u061c\u200f`],
    ["what nobody sees", "pay\u200bpal\u2060\ufeff\u00ad", String.raw`pay\u200bpal\u2060\ufeff\u00ad`],
    ["tags", "x\u{e0041}", String.raw`x\udb40\udc41`],
    ["half a character", "\ud83d!", String.raw`\ud83d!`],
    ["DEL and NUL", "\u007f\u0000", String.raw`\u007f\u0000`],
  ])("shows %s", (_name, text, shown) => {
    expect(printable(text)).toBe(shown);
    expect(printable(shown)).toBe(shown);
  });

  it("leaves text of every script and emoji as they are", () => {
    const text = "naïve 日本語 العربية עברית می‌خواهم नमस्ते 👩‍👩‍👧 ❤️ 葛󠄀";
    expect(printable(text)).toBe(text);
    expect(printableLines(`${text}\n\t${text}`)).toBe(`${text}\n\t${text}`);
  });

  it("keeps the lines of a text where they are asked for, and no other line end", () => {
    expect(printableLines("a\r\nb\n\tc\rd\u2028e")).toBe(`a\nb\n\tc${String.raw`\rd\u2028e`}`);
  });

  it("leaves a JSON document equal by value", () => {
    const value = { "\u202e": ["\u0000\u009b\u2028\u{e0041}\ud800", "plain\n"] };
    expect(JSON.parse(printableLines(JSON.stringify(value, null, 2)))).toEqual(value);
  });
});

describe("addresses", () => {
  it("are asked without user and password, which become a header", () => {
    expect(parseAddress("https://hook:p%40ss@example.com:8443/x?token=abc")).toEqual({
      url: "https://example.com:8443/x?token=abc",
      host: "example.com:8443",
      authorization: `Basic ${Buffer.from("hook:p@ss").toString("base64")}`,
    });
    expect(parseAddress("http://example.com")).toEqual({ url: "http://example.com/", host: "example.com" });
    expect(parseAddress("http://50%:x@example.com/")).toMatchObject({ host: "example.com" });
    for (const text of ["nowhere", "file:///etc/passwd", "ftp://u:p@example.com/"]) {
      expect(parseAddress(text)).toBeUndefined();
    }
  });

  it.each([
    ["see https://u:s3cret@example.com:1/x?token=s3cret.", "see https://example.com:1/…"],
    ["postgres://u:s3cret@db/all?password=s3cret", "postgres://db/…"],
    ['"http://example.com" and http://example.com/', '"http://example.com" and http://example.com/'],
    ["redis://:s3cret@[::1]:6379", "redis://[::1]:6379"],
    ["sqlite:///var/lib/all.db and file:///etc/x", "sqlite:///var/lib/all.db and file:///etc/x"],
    ["https://example.com?token=s3cret", "https://example.com/…"],
  ])("%s", (text, told) => {
    expect(withoutSecrets(text)).toBe(told);
  });
});
