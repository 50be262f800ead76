/**
 * The text `estimate` is fitted on and measured with: real files found by path on a Debian or Node machine, and data
 * generated from a fixed seed. What is absent is left out; nothing is downloaded.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { generatedKinds } from "./fit-generated.ts";

/** One message-sized piece of text and where it is from. `kind` groups what one figure is reported for. */
export interface Sample {
  readonly kind: string;
  /** The file, or the name of a generator with a number; no file is in two halves of the strict split. */
  readonly source: string;
  readonly text: string;
}

type Decode = "plain" | "html" | "decomposed" | "unspaced" | "quoted" | "man" | "catalogue";
type Rule = readonly [kind: string, folder: string, name: RegExp, decode: Decode];

const help = "usr/share/libreoffice/help";
const words = "usr/lib/libreoffice/program/resource";
const declaration = "declaration";
const inManual = (language: string): string => `usr/share/man/${language}`;

/** Kind of text, folder under a root, files in it, how to get text out of them. */
const rules: readonly Rule[] = [
  ["english docs", "usr/share/debian-reference", /\.en\.html$/, "html"],
  ["english docs", "node_modules", /README\.md$/i, "plain"],
  ["english manuals", inManual("man1"), /\.gz$/, "man"],
  ["english declaration", declaration, /^.*\/eng\.html$/, "html"],
  ["changelogs", "node_modules", /(CHANGELOG|HISTORY)\.md$/i, "plain"],
  ["python", "root/.pyenv/versions/3.11.7/lib/python3.11", /lib\/python3\.11\/[a-z]+\/?[a-z_]*\.py$/, "plain"],
  ["python", "usr/lib/python3", /\.py$/, "plain"],
  ["typescript", "node_modules", /(?<!\.d)\.m?ts$/, "plain"],
  ["typescript", "src", /\.ts$/, "plain"],
  ["declarations", "node_modules", /\.d\.m?ts$/, "plain"],
  ["javascript", "node_modules", /(?<!min)\.m?js$/, "plain"],
  ["c", "usr/include", /\.h$/, "plain"],
  ["perl", "usr/share/perl5", /\.pm$/, "plain"],
  ["shell", "usr/share", /(\.sh|completions\/[a-z-]+)$/, "plain"],
  ["minified js", "node_modules", /\.min\.(js|mjs|cjs)$/, "plain"],
  ["minified js", "usr/lib/google-cloud-sdk", /\.min\.js$/, "plain"],
  ["minified js", "root", /\.min\.js$/, "plain"],
  ["source maps", "node_modules", /\.map$/, "plain"],
  ["package.json", "node_modules", /package\.json$/, "plain"],
  ["json in json", "node_modules", /package\.json$/, "quoted"],
  ["source in json", "node_modules", /(?<!min)\.m?[jt]s$/, "quoted"],
  ["json data", "usr/share/iso-codes", /\.json$/, "plain"],
  ["json data", "node_modules", /(?<!package|tsconfig)\.json$/, "plain"],
  ["lockfile", ".", /(^|\/)package-lock\.json$/, "plain"],
  ["logs", "var/log", /\.log$/, "plain"],
  ["yaml", "node_modules", /\.ya?ml$/, "plain"],
  ["xml", "usr/share", /\.xml$/, "plain"],
  ["css", "usr/share", /\.css$/, "plain"],
  ["html", "usr/share/debian-reference", /\.en\.html$/, "plain"],
  ["html", help, /\.html$/, "plain"],
  ["html", "usr/share/doc", /\.html?$/, "plain"],
  ["japanese", "usr/share/debian-reference", /\.ja\.html$/, "html"],
  ["japanese", `${help}/ja`, /\.html$/, "html"],
  ["japanese", "usr/share/developers-reference/ja", /\.rst\.txt$/, "plain"],
  ["japanese manuals", inManual("ja"), /\.gz$/, "man"],
  ["japanese declaration", declaration, /\/jpn.*\.html$/, "html"],
  ["chinese simplified", "usr/share/debian-reference", /\.zh-cn\.html$/, "html"],
  ["chinese simplified", "usr/share/gimp/2.0/help/zh_CN", /\.html$/, "html"],
  ["chinese manuals", inManual("zh_CN"), /\.gz$/, "man"],
  ["chinese traditional", "usr/share/debian-reference", /\.zh-tw\.html$/, "html"],
  ["chinese traditional", `${help}/zh-TW`, /\.html$/, "html"],
  ["chinese declaration", declaration, /\/(cmn|yue).*\.html$/, "html"],
  ["chinese verse", "usr/share/games/fortunes", /(chinese|song100|tang300)$/, "plain"],
  ["korean", `${help}/ko`, /\.html$/, "html"],
  ["korean", "usr/share/gimp/2.0/help/ko", /\.html$/, "html"],
  ["korean declaration", declaration, /\/kor\.html$/, "html"],
  ["korean unspaced", `${help}/ko`, /\.html$/, "unspaced"],
  ["korean manuals", inManual("ko"), /\.gz$/, "man"],
  ["russian", "usr/share/gimp/2.0/help/ru", /\.html$/, "html"],
  ["russian", "usr/share/games/fortunes/ru", /ru\/[a-z-]+$/, "plain"],
  ["russian manuals", inManual("ru"), /\.gz$/, "man"],
  ["cyrillic others", inManual("uk"), /\.gz$/, "man"],
  ["cyrillic others", declaration, /\/(ukr|bul|srp_cyrl|mkd|bel|kaz|khk)\.html$/, "html"],
  ["german", "usr/share/debian-reference", /\.de\.html$/, "html"],
  ["german", inManual("de"), /\.gz$/, "man"],
  ["french", "usr/share/debian-reference", /\.fr\.html$/, "html"],
  ["decomposed accents", "usr/share/debian-reference", /\.(fr|es)\.html$/, "decomposed"],
  ["decomposed accents", `${help}/vi`, /\.html$/, "decomposed"],
  ["spanish", "usr/share/debian-reference", /\.es\.html$/, "html"],
  ["portuguese", "usr/share/debian-reference", /\.pt-br\.html$/, "html"],
  ["italian", "usr/share/debian-reference", /\.it\.html$/, "html"],
  ["polish", inManual("pl"), /\.gz$/, "man"],
  ["turkish", `${help}/tr`, /\.html$/, "html"],
  ["vietnamese", `${help}/vi`, /\.html$/, "html"],
  ["latin others", declaration, /\/(nld|swe|fin|hun|ces|ron_2006|ind|est|lit|hrv|cat|dan|nob|swh|tgl)\.html$/, "html"],
  ["greek", `${help}/el`, /\.html$/, "html"],
  ["greek declaration", declaration, /\/ell.*\.html$/, "html"],
  ["persian", "usr/share/gimp/2.0/help/fa", /\.html$/, "html"],
  ["arabic", `${words}/ar`, /\.mo$/, "catalogue"],
  ["arabic declaration", declaration, /\/(arb|pes_1|urd)\.html$/, "html"],
  ["hebrew", `${words}/he`, /\.mo$/, "catalogue"],
  ["hebrew declaration", declaration, /\/heb\.html$/, "html"],
  ["thai", `${words}/th`, /\.mo$/, "catalogue"],
  ["thai declaration", declaration, /\/tha\.html$/, "html"],
  ["hindi", `${help}/hi`, /\.html$/, "html"],
  ["hindi declaration", declaration, /\/(hin|mar|npi)\.html$/, "html"],
  ["bengali", `${words}/bn`, /\.mo$/, "catalogue"],
  ["tamil", `${words}/ta`, /\.mo$/, "catalogue"],
  ["georgian", `${words}/ka`, /\.mo$/, "catalogue"],
  ["indic others", declaration, /\/(ben|tam|tel_?[a-z]*|kan|mal|guj|pan|sin)\.html$/, "html"],
  ["southeast asian", declaration, /\/(khm|lao|mya|bod)\.html$/, "html"],
  ["armenian, georgian", declaration, /\/(hye|kat)\.html$/, "html"],
  ["rare scripts", declaration, /\/(chr_[a-z]+|iii|vai|nqo|div|syr|tzm_tfng|zgh|khk_mong|jav_java)\.html$/, "html"],
  ["ethiopic", declaration, /\/(amh|tir)\.html$/, "html"],
];

const messageLength = 2_000;
const fileLimit = 40_000;
const kindLimit = 240_000;

/** Every sample that the roots give, in messages of 2,000 UTF-16 code units. */
export function corpus(roots: readonly string[]): readonly Sample[] {
  const files = new Map<string, [file: string, decode: Decode][]>();
  for (const [kind, folder, name, decode] of rules) {
    for (const root of roots) {
      const found = walk(join(root, folder), folder === "." ? 0 : 9).filter((file) => name.test(file));
      const list = files.get(kind) ?? [];
      list.push(...found.map((file): [string, Decode] => [file, decode]));
      files.set(kind, list);
    }
  }
  const samples: Sample[] = [];
  for (const [kind, list] of files) samples.push(...ofKind(kind, list));
  for (const [kind, source, text] of [...generatedKinds(), ...commandOutput(roots)]) {
    samples.push(...cut(kind, source, text.slice(0, kindLimit)));
  }
  return samples;
}

/** Kinds whose text is of this script: pages left untranslated in them are English, and left out. */
const ownScript =
  /^(japanese|chinese|korean|russian|cyrillic|greek|persian|arabic|hebrew|thai|hindi|bengali|tamil|georg|indic|south|arm|eth|rare)/;

function isForeign(sample: Sample): boolean {
  if (!ownScript.test(sample.kind)) return false;
  return (sample.text.match(/[^\0-\u02ff\u2000-\u206f]/g)?.length ?? 0) < sample.text.length * 0.3;
}

/** A text in messages of 2,000 code units; a rest shorter than a quarter of that is left out. */
export function cut(kind: string, source: string, text: string): readonly Sample[] {
  const samples: Sample[] = [];
  for (let at = 0; at < text.length; at += messageLength) {
    const piece = text.slice(at, at + messageLength).toWellFormed();
    if (piece.length >= messageLength / 4) samples.push({ kind, source, text: piece });
  }
  return samples;
}

function ofKind(kind: string, files: readonly [file: string, decode: Decode][]): readonly Sample[] {
  const samples: Sample[] = [];
  const stride = Math.max(1, Math.floor(files.length / 200));
  for (let index = 0; index < files.length && samples.length < kindLimit / messageLength; index += stride) {
    const entry = files[index];
    if (!entry) continue;
    const pieces = cut(kind, entry[0], decodeFile(...entry).slice(0, fileLimit));
    samples.push(...pieces.filter((sample) => !isForeign(sample)));
  }
  return samples;
}

function walk(folder: string, depth: number): string[] {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  const files: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isFile()) files.push(path);
    else if (entry.isDirectory() && depth > 0) files.push(...walk(path, depth - 1));
  }
  return files;
}

function decodeFile(file: string, decode: Decode): string {
  if (statSync(file).size > 20_000_000) return "";
  let bytes: Buffer = readFileSync(file);
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = gunzipSync(bytes);
  if (decode === "catalogue") return catalogueText(bytes);
  const text = bytes.toString("utf8");
  if (text.includes("\ufffd")) return "";
  if (decode === "html") return htmlText(text);
  if (decode === "decomposed") return htmlText(text).normalize("NFD");
  if (decode === "unspaced") return htmlText(text).replace(/[\s\0-\x7f]+/g, "");
  if (decode === "quoted") return JSON.stringify({ type: "text", text: /^\s*[{[]/.test(text) ? compact(text) : text });
  return decode === "man" ? text.replace(/^\.\\".*\n/gm, "") : text;
}

/** JSON without its line ends, as tools print it; JSON with comments stays as it is. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

function htmlText(html: string): string {
  return html
    .replace(/<(script|style|head)[\s\S]*?<\/\1>/gi, "")
    .replace(/<[^>]*>/g, "")
    .replace(/&(lt|gt|amp|quot|nbsp|#\d+);/g, (_, name: string) => entity(name))
    .replace(/[ \t]+/g, " ")
    .replace(/\s*\n\s*/g, "\n");
}

function entity(name: string): string {
  if (name.startsWith("#")) return String.fromCodePoint(Number(name.slice(1)));
  return { lt: "<", gt: ">", amp: "&", quot: '"', nbsp: " " }[name] ?? "";
}

/** The translations of a GNU .mo file, one a line. */
function catalogueText(bytes: Buffer): string {
  if (bytes.length < 20 || bytes.readUInt32LE(0) !== 0x950412de) return "";
  const lines: string[] = [];
  const table = bytes.readUInt32LE(16);
  for (let index = 1; index < bytes.readUInt32LE(8); index++) {
    const length = bytes.readUInt32LE(table + index * 8);
    const at = bytes.readUInt32LE(table + index * 8 + 4);
    const text = bytes.toString("utf8", at, at + length);
    if (length > 60) lines.push(text.replaceAll("\0", "\n"));
  }
  return lines.join("\n");
}

function commandOutput(roots: readonly string[]): readonly [kind: string, source: string, text: string][] {
  const output: [string, string, string][] = [];
  const run = (kind: string, command: string, args: readonly string[]): void => {
    let text = "";
    try {
      text = execFileSync(command, args, { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }).toString("utf8");
    } catch (error) {
      // diff and grep end with status 1 where they found something to print.
      text = String((error as { stdout?: Buffer }).stdout ?? "");
    }
    for (let part = 0; part < 12; part++) {
      const at = Math.floor((text.length * part) / 12);
      output.push([kind, `${command} ${args.join(" ")} #${part}`, text.slice(at, at + 20_000)]);
    }
  };
  for (const root of roots) {
    run("ls -laR", "ls", ["-laR", join(root, "node_modules")]);
    run("ls -laR", "ls", ["-laR", join(root, "usr/share/doc")]);
    run("grep -rn", "grep", [
      "-rnI",
      "function",
      join(root, "node_modules"),
      "--include=*.ts",
      "--include=*.js",
      "-m3",
    ]);
    run("grep -rn", "grep", ["-rnI", "error", join(root, "usr/include"), "-m2"]);
    const versions = join(root, "root/.pyenv/versions");
    run("diffs", "diff", [
      "-ru",
      `${versions}/3.10.13/lib/python3.10/asyncio`,
      `${versions}/3.12.1/lib/python3.12/asyncio`,
    ]);
    run("diffs", "diff", ["-ru", `${versions}/3.10.13/lib/python3.10/http`, `${versions}/3.12.1/lib/python3.12/http`]);
  }
  return output;
}
