/** Addresses that may hold secrets: a password before the host, a token in the path or the query. */

/** An address in two texts: the one to request, and the one that a message may show. */
export interface Address {
  /** The URL to request, without user and password, which `fetch` refuses in a URL. */
  readonly url: string;
  /** The host for messages: `example.com:8443`. */
  readonly host: string;
  /** The user and password as an `authorization` header's value; absent where the address has none. */
  readonly authorization?: string;
}

/** An `http:` or `https:` address; undefined for anything else. A user and password become basic authorization. */
export function parseAddress(text: string): Address | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  const { username, password, host } = url;
  url.username = "";
  url.password = "";
  const pair = [username, password].map(decoded).join(":");
  return {
    url: url.href,
    host,
    ...(pair !== ":" && { authorization: `Basic ${Buffer.from(pair).toString("base64")}` }),
  };
}

/**
 * A text in which every address of a server is shortened to its scheme and host: `https://example.com/…`. Paths of files
 * stay as they are.
 */
export function withoutSecrets(text: string): string {
  return text.replaceAll(
    /\b(?!(?:file|sqlite|ram|windrow):)([a-z][a-z0-9+.-]*:)\/\/([^\s/?#"'<>`]*@)?([^\s/?#"'<>`@]*)([/?#][^\s"'<>`]*)?/gi,
    (_whole, scheme: string, _user: string | undefined, host: string, rest = "") =>
      `${scheme}//${host}${/^\/?$/.test(rest) ? rest : "/…"}`,
  );
}

/** Decodes a percent-encoded name or password. A wrong encoding stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
