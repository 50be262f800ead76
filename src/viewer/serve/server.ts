/** The viewer as a server of its own: on this machine, at a free port, with a token of its own. */
import { WindrowError } from "../../errors.ts";
import { isLoopbackAddress, newToken } from "../../http/bearer.ts";
import { answerWith } from "../../http/fetch.ts";
import { serveHttp } from "../../http/http.ts";
import { checkGiven, kinds, listOf, whole } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import type { ViewerSource } from "../viewer.ts";
import { viewerHandler } from "./handler.ts";

/** The settings of a server. */
export interface ServeViewerOptions {
  /** Answers the questions; `storedSource` makes one of a store. */
  readonly source: ViewerSource;
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. Any address that other machines reach needs a `token`. */
  readonly host?: string;
  /** At least 16 characters. Default: 32 random bytes, new for every server. */
  readonly token?: string;
  /** Host names by which browsers may call beside those of this machine. */
  readonly allowedHosts?: readonly string[];
  /** The folder of index.html, viewer.js and viewer.css. Default: the package's own. */
  readonly pages?: string;
  /** Called with each error that is no fault of a request. */
  readonly onError?: (error: Error) => void;
}

const optionKinds = {
  source: kinds.object,
  port: whole(0),
  host: kinds.text,
  token: kinds.text,
  allowedHosts: listOf(kinds.text),
  pages: kinds.text,
  onError: kinds.action,
} as const satisfies Record<keyof ServeViewerOptions, Kind>;

/** A viewer that is served. */
export interface ViewerServer {
  /** `http://127.0.0.1:40123`, without the token. */
  readonly url: string;
  readonly token: string;
  /**
   * The link that opens the page. The token stands behind the `#`, which browsers do not send.
   *
   * @param route - the place to open: `/s/ID/call/57`
   */
  link(route?: string): string;
  /** Ends every connection. */
  close(): Promise<void>;
}

/**
 * Serves the viewer. Requests under another host name than this machine's, and from pages of other origins, are refused.
 *
 * @throws WindrowError `bad-option` for a wrong option, and for an address that other machines reach without a token;
 *   `store-unavailable` where the port is taken
 */
export async function serveViewer(options: ServeViewerOptions): Promise<ViewerServer> {
  checkGiven("serveViewer", options, optionKinds);
  const { source, port = 0, host = "127.0.0.1", allowedHosts = [], pages, onError } = options;
  if (options.token === undefined && !isLoopbackAddress(host)) {
    const message = `Other machines could ask for sessions at ${host}: give a token, or listen on 127.0.0.1.`;
    throw new WindrowError("bad-option", message, { host });
  }
  const token = options.token ?? newToken();
  const handle = viewerHandler({ source, token, ...(pages !== undefined && { pages }), ...(onError && { onError }) });
  const server = await serveHttp({
    port,
    host,
    allowedHosts,
    methods: ["GET", "HEAD"],
    ...(onError && { onError }),
    handle: (call) => answerWith(handle, call),
  });
  return {
    url: server.url,
    token,
    link(route) {
      const to = route === undefined ? "" : `&to=${encodeURI(route)}`;
      return `${server.url}/#token=${encodeURIComponent(token)}${to}`;
    },
    close: () => server.close(),
  };
}
