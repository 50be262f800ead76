/** The source that the page has: the data of its own file, or the server it came from. */
import type { ViewerSource } from "../../src/viewer/viewer.ts";
import { fileSource, unpackFile } from "../../src/viewer/file/decode.ts";
import { serverSource } from "./server-source.ts";

const tokenKey = "windrow-token";

/**
 * The source of this page. The token of the link is kept for the tab, and the address shows the route alone.
 *
 * @param onTrouble - called with the words of a trouble with the connection, and with undefined when it is over
 */
export async function pickSource(onTrouble: (words: string | undefined) => void): Promise<ViewerSource> {
  const data = document.getElementById("windrow-data");
  return data
    ? fileSource(await unpackFile(data.textContent ?? ""))
    : serverSource(takeToken(), mountedAt(), onTrouble);
}

/** The path that the page is mounted at, without a slash at its end: empty for the root. */
function mountedAt(): string {
  return location.pathname.replace(/\/[^/]*$/, "");
}

/**
 * The link that opens this place in another tab or browser of this machine, with the token. A page of a file has none: its
 * address is the link.
 */
export function linkHere(): string {
  const token = sessionStorage.getItem(tokenKey);
  const place = location.hash.slice(1);
  const isFile = document.getElementById("windrow-data") !== null;
  return isFile || token === null
    ? location.href
    : `${location.origin}${location.pathname}#token=${token}&to=${encodeURIComponent(place)}`;
}

function takeToken(): string {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token === null) return sessionStorage.getItem(tokenKey) ?? "";
  sessionStorage.setItem(tokenKey, token);
  history.replaceState(null, "", `#${given.get("to") ?? "/"}`);
  return token;
}
