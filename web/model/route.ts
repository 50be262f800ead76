/** Addresses of the page, which stand after the `#`: a link names a session, a call, a message. */

/** The views of a session. */
export const sessionViews = ["window", "text", "map", "diff", "epochs", "recalls", "requests"] as const;

/** A view of a session. */
export type SessionView = (typeof sessionViews)[number];

/** The place of a session: by its id, or by a replay's row. */
export interface SessionRoute {
  readonly page: "session";
  /** Empty for a row of the replay. */
  readonly id: string;
  /** The replay's row; absent for a session. */
  readonly row?: number;
  readonly view: SessionView;
  readonly call?: number;
  /** The message that is selected. */
  readonly seq?: number;
  /** The call that a difference begins with. */
  readonly other?: number;
}

/** A place of the page. */
export type Route = { readonly page: "fleet" } | { readonly page: "replay" } | SessionRoute;

/** The route of an address; the list of sessions for one that is not known. */
export function parseRoute(address: string): Route {
  const [head = "", ...rest] = address.replace(/^#?\/?/, "").split("/");
  if (head === "replay" && rest[0] === "row") {
    const row = numberOf(rest[1], 0);
    return row === undefined ? { page: "replay" } : { page: "session", id: "", row, ...viewOf(rest.slice(2)) };
  }
  if (head === "replay") return { page: "replay" };
  if (head === "s" && rest[0]) return { page: "session", id: decoded(rest[0]), ...viewOf(rest.slice(1)) };
  return { page: "fleet" };
}

function viewOf([name, first, second, third]: readonly string[]): Omit<SessionRoute, "page" | "id"> {
  const call = numberOf(first, 1);
  if (name === "diff") {
    const after = numberOf(second, 1);
    return { view: "diff", ...(call && { other: call }), ...(after && { call: after }) };
  }
  if (name === "epochs" || name === "recalls" || name === "map" || name === "requests") {
    return { view: name, ...(call && { call }) };
  }
  if (name !== "call" || call === undefined) return { view: "window" };
  if (second === "text") return { view: "text", call };
  const seq = second === "m" ? numberOf(third, 1) : undefined;
  return { view: "window", call, ...(seq && { seq }) };
}

/** The address of a route, with its `#`. */
export function addressOf(route: Route): string {
  if (route.page === "fleet") return "#/";
  if (route.page === "replay") return "#/replay";
  const { id, row, view, call, seq, other } = route;
  const base = row === undefined ? `#/s/${encodeURIComponent(id.toWellFormed())}` : `#/replay/row/${row}`;
  if (view === "diff") return call && other ? `${base}/diff/${other}/${call}` : `${base}/diff`;
  if (view === "epochs" || view === "recalls" || view === "map" || view === "requests") {
    return `${base}/${view}${call ? `/${call}` : ""}`;
  }
  if (call === undefined) return base;
  return `${base}/call/${call}${view === "text" ? "/text" : seq === undefined ? "" : `/m/${seq}`}`;
}

function numberOf(text: string | undefined, least: number): number | undefined {
  if (text === undefined || !/^\d{1,9}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= least ? value : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
