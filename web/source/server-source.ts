/** The questions of the page over HTTP, with the bearer's token of its link. */
import type { LiveEvent, ViewerSource, ViewerWindow } from "../../src/viewer/viewer.ts";
import { Recent } from "../model/lru.ts";
import { SourceFault } from "./fault.ts";
import { followEvents } from "./follow.ts";

/** Windows that are kept: stepping back and forth asks once for each. */
const keptWindows = 32;
/** Windows that may be asked for at the same time: the call's, two of a difference, and one with its origins. */
const mostPending = 4;

type WindowOptions = NonNullable<Parameters<ViewerSource["window"]>[2]>;
type Query = Readonly<Record<string, string | number | undefined>>;

/** A source that asks the server that the page came from. */
export function serverSource(
  token: string,
  base = "",
  onTrouble: (words: string | undefined) => void = () => undefined,
): ViewerSource {
  const headers = { authorization: `Bearer ${token}` };
  const windows = new Recent<string, ViewerWindow>(keptWindows);
  const asked = new Map<string, Promise<ViewerWindow>>();
  const pending: AbortController[] = [];

  async function ask(path: string, query: Query = {}, signal?: AbortSignal): Promise<Response> {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const search = given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
    let response: Response;
    try {
      response = await fetch(`${base}/api/${path}${search}`, { headers, ...(signal && { signal }) });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new SourceFault(
        "no-answer",
        "The server does not answer. Start it again and open the link that it prints.",
      );
    }
    if (!response.ok) throw await faultOf(response);
    return response;
  }

  async function json<Value>(path: string, query?: Query, signal?: AbortSignal): Promise<Value> {
    const response = await ask(path, query, signal);
    return (await response.json()) as Value;
  }

  /** Asks for a window; the oldest question of too many is given up. */
  async function askWindow(path: string, options: WindowOptions, key: string): Promise<ViewerWindow> {
    const controller = new AbortController();
    pending.push(controller);
    while (pending.length > mostPending) pending.shift()?.abort();
    try {
      const { origins = false, ...rest } = options;
      const answer = await json<ViewerWindow>(path, { ...rest, ...(origins && { origins: 1 }) }, controller.signal);
      windows.set(key, answer);
      return answer;
    } finally {
      const place = pending.indexOf(controller);
      if (place !== -1) pending.splice(place, 1);
    }
  }

  const of = (id: string, rest: string): string => `sessions/${encodeURIComponent(id.toWellFormed())}${rest}`;

  return {
    kind: "server",
    sessions: (query) => json("sessions", query),
    session: (id) => json(of(id, "")),
    outline: (id, from, to) => json(of(id, "/outline"), { from, to }),
    messages: (id, from, to) => json(of(id, "/messages"), { from, to }),
    text: (id, seq, place, from, to) => json(of(id, "/text"), { seq, place, from, to }),
    async blob(id, seq, place) {
      const response = await ask(of(id, `/blob/${seq}/${place}`));
      const data = new Uint8Array(await response.arrayBuffer());
      return { mediaType: response.headers.get("content-type") ?? "application/octet-stream", data };
    },
    calls: (id, from, to, row) => json(of(id, "/calls"), { from, to, row }),
    epochs: (id, row, { fates = true } = {}) => json(of(id, "/epochs"), { row, ...(!fates && { fates: 0 }) }),
    window(id, call, options = {}) {
      const path = of(id, `/windows/${call}`);
      const key = `${path} ${JSON.stringify(options)}`;
      const kept = windows.get(key);
      if (kept) return Promise.resolve(kept);
      const running = asked.get(key) ?? askWindow(path, options, key).finally(() => asked.delete(key));
      asked.set(key, running);
      return running;
    },
    requests: (id, from, to) => json(of(id, "/requests"), { from, to }),
    recalls: (id) => json(of(id, "/recalls")),
    search: (words, id) => json(id === undefined ? "search" : of(id, "/search"), { words }),
    replay: (id) => json(of(id, "/replay")),
    follow: (id, onEvent: (event: LiveEvent) => void, signal) =>
      followEvents((inner) => ask(of(id, "/follow"), {}, inner), { onEvent, onTrouble }, signal),
  };
}

async function faultOf(response: Response): Promise<SourceFault> {
  const { status } = response;
  const body = (await response.json().catch(() => undefined)) as
    | { readonly error?: { readonly code?: string; readonly message?: string } }
    | undefined;
  const code = body?.error?.code ?? `status-${status}`;
  if (status === 401 || (status === 403 && body?.error?.message === undefined)) {
    return new SourceFault(code, "The link's token is missing or old. Open the link that the command printed last.");
  }
  return new SourceFault(code, body?.error?.message ?? `The server answered with status ${status}.`);
}
