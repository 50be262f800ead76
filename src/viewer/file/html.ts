/** A single file: the page with its script, its style and its data inside, under a policy that lets nothing else run. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { WindrowError } from "../../errors.ts";
import { readPage } from "../serve/pages.ts";
import { fileDataId } from "./data.ts";
import type { FileData } from "./data.ts";

/** The settings of a single file. */
export interface FileHtmlOptions {
  /** The file's title. */
  readonly title: string;
  /** The folder of index.html, viewer.js and viewer.css. Default: the package's own. */
  readonly pages?: string;
}

/** The most characters of JSON that one file may hold: a page holds all of it as one text. */
const longestJson = 400_000_000;

/**
 * Makes the text of a single file.
 *
 * @throws WindrowError `input-too-large` for more than a browser can open, `package-missing` where the page is not built
 */
export async function fileHtml(data: FileData, { title, pages }: FileHtmlOptions): Promise<string> {
  const [html, script, style] = await Promise.all([
    readPage("", pages),
    readPage("viewer.js", pages).then(inlineScript),
    readPage("viewer.css", pages).then(inlineStyle),
  ]);
  const block = `<script type="application/octet-stream" id="${fileDataId}">${await packed(data)}</script>`;
  const policy =
    `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; img-src data: blob:; ` +
    "base-uri 'none'; form-action 'none'";
  const parts: readonly (readonly [place: RegExp, text: string])[] = [
    [/<meta charset="utf-8" ?\/?>/, `$&\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`],
    [/<title>[^<]*<\/title>/, `<title>${escaped(title)}</title>`],
    [/<link rel="stylesheet"[^>]*>/, `<style>${style}</style>`],
    [/<script [^>]*src="[^"]*viewer\.js"[^>]*><\/script>/, `${block}\n    <script type="module">${script}</script>`],
  ];
  return parts.reduce((text, [place, part]) => replaced(text, place, part), html);
}

function replaced(html: string, place: RegExp, text: string): string {
  const found = place.exec(html);
  if (!found) {
    throw new WindrowError("package-missing", `The page's index.html has no ${place.source}: install windrow again.`);
  }
  const [all] = found;
  const put = text.startsWith("$&") ? all + text.slice(2) : text;
  return html.slice(0, found.index) + put + html.slice(found.index + all.length);
}

async function packed(data: FileData): Promise<string> {
  let json: string;
  try {
    json = JSON.stringify(data);
  } catch (error) {
    // A text longer than the engine's longest one.
    throw tooLarge(error);
  }
  if (json.length > longestJson) throw tooLarge();
  const bytes = await promisify(gzip)(json, { level: constants.Z_BEST_COMPRESSION });
  return bytes.toString("base64");
}

function tooLarge(cause?: unknown): WindrowError {
  const message = "This is more than one file can hold for a browser. Serve it instead: windrow serve.";
  return new WindrowError("input-too-large", message, {}, { cause });
}

/** A script that can stand in a page: nothing in it ends its element, or begins a comment. */
function inlineScript(script: string): string {
  return normalized(script)
    .replaceAll(/<\/(?=script)/gi, "<\\/")
    .replaceAll("<!--", "<\\!--");
}

function inlineStyle(style: string): string {
  return normalized(style).replaceAll(/<\/(?=style)/gi, "<\\/");
}

/** Line ends as a parser of HTML makes them: the hash is of those. */
function normalized(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
