/** Sessions of a source as one file that opens in a browser, without a server. */
import { createMask } from "../../mask/mask.ts";
import { checkGiven, kinds } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import type { ViewerSource } from "../viewer.ts";
import { encodeSessions } from "./encode.ts";
import type { EncodeOptions } from "./encode.ts";
import { fileHtml } from "./html.ts";

/** The settings of {@link viewerFile}. */
export interface ViewerFileOptions extends EncodeOptions {
  /** The file's title. Default: the session's. */
  readonly title?: string;
  /** The folder of index.html, viewer.js and viewer.css. Default: the package's own. */
  readonly pages?: string;
}

const optionKinds = {
  mask: kinds.object,
  onProgress: kinds.action,
  signal: kinds.object,
  title: kinds.text,
  pages: kinds.text,
} as const satisfies Record<keyof ViewerFileOptions, Kind>;

/**
 * Makes the text of a file that shows sessions with every window of theirs. It opens from `file://`, asks no network,
 * and runs nothing but its own script.
 *
 * @param ids - the sessions; the first gives the title
 * @param options.mask - goes before everything in the file. Default: secrets of a known form
 * @throws WindrowError `session-not-found`, `input-too-large` for more than a browser can open; `bad-option`
 */
export async function viewerFile(
  source: ViewerSource,
  ids: readonly string[],
  options: ViewerFileOptions = {},
): Promise<string> {
  checkGiven("viewerFile", options, optionKinds);
  const { title, pages, mask = createMask(), ...rest } = options;
  const data = await encodeSessions(source, ids, { ...rest, mask });
  const first = data.sessions[0]?.session;
  const named = title ?? (first?.title === "" ? first.id : first?.title) ?? "Sessions";
  return fileHtml(data, { title: named, ...(pages !== undefined && { pages }) });
}
