/** Routes by path: the gateway's own pages, a named upstream, or the provider whose API a path belongs to. */
import type { IncomingHttpHeaders } from "node:http";

/** The shape of a provider's API, by which its errors and its default upstream are chosen. */
export type Family = "anthropic" | "openai" | "gemini" | "ollama";

/** The place that a request is meant for. */
export interface Route {
  /** The name of an upstream; absent for the gateway's own pages. */
  readonly upstream?: string;
  /** The shape of errors. */
  readonly family: Family;
  /** The path with its query, without the gateway's prefixes, as the client wrote it. */
  readonly path: string;
  /** A session's name from the path. */
  readonly session?: string;
  /** The gateway's token from the path. */
  readonly token?: string;
}

/** Prefixes of a path: `/t/TOKEN`, `/s/SESSION`, `/u/UPSTREAM`, each at most once, in any order. */
const prefix = /^\/([tsu])\/([^/?]*)(?=\/)/;

/**
 * The route of a request.
 *
 * @param target - path and query, which have passed the guard
 * @returns undefined where nothing is there: an unknown path, or one that looks like an address or climbs
 */
export function routeOf(target: string, headers: IncomingHttpHeaders): Route | undefined {
  const given: { t?: string; s?: string; u?: string } = {};
  let path = target;
  for (let found = prefix.exec(path); found; found = prefix.exec(path)) {
    const [whole, kind, name = ""] = found;
    const value = decodeURIComponent(name);
    if (!isName(value) || given[kind as "t"] !== undefined) return undefined;
    given[kind as "t"] = value;
    path = path.slice(whole.length);
  }
  const plain = path.replace(/\?.*$/s, "");
  if (!isPlain(plain)) return undefined;
  const family = familyOf(plain, headers);
  const rest = {
    path,
    ...(given.s !== undefined && { session: given.s }),
    ...(given.t !== undefined && { token: given.t }),
  };
  if (given.u !== undefined) return { upstream: given.u, family: family ?? "openai", ...rest };
  if (plain === "/" || plain.startsWith("/-/")) return { family: "openai", ...rest };
  return family === undefined ? undefined : { upstream: family, family, ...rest };
}

/** The family by a path, and where two share one, by headers that only one of them has. */
function familyOf(path: string, headers: IncomingHttpHeaders): Family | undefined {
  const isAnthropic = "anthropic-version" in headers || "x-api-key" in headers;
  if (/^\/v1\/messages(?:\/|$)/.test(path)) return "anthropic";
  if (/^\/v1\/(?:responses|chat\/completions)(?:\/|$)/.test(path)) return "openai";
  if (/^(?:\/upload)?\/v1(?:alpha|beta)\//.test(path)) return "gemini";
  if (path.startsWith("/v1/")) return isAnthropic ? "anthropic" : "x-goog-api-key" in headers ? "gemini" : "openai";
  if (!path.startsWith("/api/")) return undefined;
  const isClaude = isAnthropic || /^claude/i.test(headers["user-agent"] ?? "") || path === "/api/hello";
  return isClaude ? "anthropic" : "ollama";
}

/** Whether a name has nothing that could not be shown in a line, and is not too long. */
function isName(text: string): boolean {
  return /^[^\p{C}/\\]{1,200}$/u.test(text);
}

/** Whether a path is no address of another server, and has no step upwards that would leave an upstream's folder. */
function isPlain(path: string): boolean {
  const decoded = decodeURIComponent(path);
  return !/:\//.test(decoded) && !decoded.split(/[/\\]/).some((step) => step === "." || step === "..");
}
