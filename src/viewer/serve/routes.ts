/** The questions that a page can ask over HTTP, by path. */
import { WindrowError } from "../../errors.ts";
import { defined } from "../../message/json.ts";
import type { ViewerBlob, ViewerSource } from "../viewer.ts";
import { numberIn, QueryParameters } from "./query.ts";

/** Most rows, messages, calls and characters of one answer. */
export const mostOf = {
  sessions: 500,
  outline: 1_000,
  messages: 200,
  calls: 5_000,
  requests: 1_000,
  characters: 1_000_000,
} as const;

const longestWords = 1_000;
const anyNumber = { least: 0, most: 1e12 } as const;

/** The answer to a question: a value for JSON, bytes, or the session whose growth is followed. */
export type Answer =
  | { readonly is: "value"; readonly value: unknown }
  | { readonly is: "blob"; readonly blob: ViewerBlob }
  | { readonly is: "follow"; readonly id: string };

interface Route {
  /** The parameters that it takes. */
  readonly takes: readonly string[];
  /** The number of parts of its path behind the name. */
  readonly parts: number;
  readonly ask: (source: ViewerSource, asked: Asked) => Promise<unknown>;
}

interface Asked {
  readonly id: string;
  readonly path: string;
  /** The parts of the path behind the route's name. */
  readonly rest: readonly string[];
  readonly query: QueryParameters;
}

const rangeOf = ["from", "to"] as const;

/** The questions about one session: `/api/sessions/ID/NAME`. */
const ofSession: Readonly<Record<string, Route>> = {
  outline: {
    takes: rangeOf,
    parts: 0,
    ask(source, { id, query }) {
      const { from, to } = query.range(mostOf.outline);
      return source.outline(id, from, to);
    },
  },
  messages: {
    takes: rangeOf,
    parts: 0,
    ask(source, { id, query }) {
      const { from, to } = query.range(mostOf.messages);
      return source.messages(id, from, to);
    },
  },
  text: {
    takes: ["seq", "place", ...rangeOf],
    parts: 0,
    ask(source, { id, query }) {
      const { from, to } = query.range(mostOf.characters, 0);
      const [seq, place] = [query.number("seq", anyNumber), query.text("place", 100)];
      return source.text(id, needed("seq", seq), needed("place", place), from, to);
    },
  },
  calls: {
    takes: [...rangeOf, "row"],
    parts: 0,
    ask(source, { id, query }) {
      const { from, to } = query.range(1e12);
      return source.calls(id, from, Math.min(to, from + mostOf.calls - 1), query.number("row", anyNumber));
    },
  },
  epochs: {
    takes: ["row", "fates"],
    parts: 0,
    ask(source, { id, query }) {
      const fates = query.number("fates", { least: 0, most: 1 });
      const options = fates === undefined ? [] : [{ fates: fates === 1 }];
      return source.epochs(id, query.number("row", anyNumber), ...options);
    },
  },
  windows: {
    takes: ["row", "strategy", "budget", "origins"],
    parts: 1,
    ask(source, { id, path, rest: [call = ""], query }) {
      const options = defined({
        row: query.number("row", anyNumber),
        strategy: query.text("strategy", 200),
        budget: query.number("budget", { least: 1, most: 1e9 }),
        ...(query.number("origins", { least: 0, most: 1 }) === 1 && { origins: true }),
      });
      return source.window(id, numberIn(path, call), options);
    },
  },
  requests: {
    takes: rangeOf,
    parts: 0,
    async ask(source, { id, query }) {
      const { from, to } = query.range(mostOf.requests);
      return (await source.requests?.(id, from, to)) ?? { total: 0, requests: [] };
    },
  },
  recalls: { takes: [], parts: 0, ask: (source, { id }) => source.recalls(id) },
  replay: { takes: [], parts: 0, ask: (source, { id }) => source.replay(id) },
  search: {
    takes: ["words"],
    parts: 0,
    ask: (source, { id, query }) => source.search(needed("words", query.text("words", longestWords)), id),
  },
};

/**
 * Answers a path below `/api/`; undefined where no question has it.
 *
 * @throws WindrowError `bad-option` for a wrong parameter; what the source throws
 */
export async function answerTo(source: ViewerSource, url: URL): Promise<Answer | undefined> {
  const [kind, id, name, ...rest] = url.pathname.split("/").slice(2).map(decodeURIComponent);
  const given = url.searchParams;
  const value = async (work: Promise<unknown>): Promise<Answer> => ({ is: "value", value: await work });
  if (kind === "search" && id === undefined) {
    const query = new QueryParameters("/api/search", given, ["words"]);
    return value(source.search(needed("words", query.text("words", longestWords))));
  }
  if (kind !== "sessions") return undefined;
  if (id === undefined) return value(source.sessions(sessionsQuery(given)));
  checkId(id);
  if (name === undefined) {
    new QueryParameters("/api/sessions/ID", given, []);
    return value(source.session(id));
  }
  const path = `/api/sessions/ID/${name}`;
  if (name === "follow" && rest.length === 0) {
    new QueryParameters(path, given, []);
    return { is: "follow", id };
  }
  if (name === "blob" && rest.length === 2) {
    new QueryParameters(path, given, []);
    if (!source.blob) throw new WindrowError("not-found", "No images are held here.");
    return { is: "blob", blob: await source.blob(id, numberIn(path, rest[0] ?? ""), rest[1] ?? "") };
  }
  const route = Object.hasOwn(ofSession, name) ? ofSession[name] : undefined;
  if (route?.parts !== rest.length) return undefined;
  return value(route.ask(source, { id, path, rest, query: new QueryParameters(path, given, route.takes) }));
}

function sessionsQuery(given: URLSearchParams): Parameters<ViewerSource["sessions"]>[0] {
  const query = new QueryParameters("/api/sessions", given, ["after", "limit", "status", "text"]);
  return defined({
    after: query.text("after", 200),
    limit: query.number("limit", { least: 1, most: mostOf.sessions }),
    status: query.text("status", 40),
    text: query.text("text", longestWords),
  });
}

/** Refuses what cannot be a session's id before a store sees it. */
function checkId(id: string): void {
  if (/^[\p{L}\p{N}_.:@-]{1,200}$/u.test(id) && !/^\.+$/.test(id)) return;
  throw new WindrowError("session-id-invalid", "The path names no session.");
}

function needed<T>(name: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new WindrowError("bad-option", `The parameter ${name} is needed.`, { option: name });
}
