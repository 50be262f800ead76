/** The source that the page has: the data of its own file, or the server it came from. */
import type { ViewerSource } from "../../src/viewer/viewer.ts";
import { fileSource, unpackFile } from "../../src/viewer/file/decode.ts";
import { serverSource } from "./server-source.ts";

const tokenKey = "windrow-token";

/**
 * The source of this page. The token of the link is kept, and the address shows the route alone.
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
 * The token of the link, or the one that an earlier page of this server kept: a link that was copied opens in a new tab, too.
 * The token of another server is refused, and the next link takes its place.
 */
function takeToken(): string {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token === null) return localStorage.getItem(tokenKey) ?? "";
  localStorage.setItem(tokenKey, token);
  history.replaceState(null, "", `#${given.get("to") ?? "/"}`);
  return token;
}
