/** Upstreams: the servers of the configured list, and no other, each with its pool of connections. */
import { Pool } from "undici";
import { WindrowError } from "../../errors.ts";
import { tunnelFor } from "./tunnel.ts";

/** Providers by the name that a path gives them. An option of the same name takes the place of one. */
export const defaultUpstreams: Readonly<Record<string, string>> = {
  anthropic: "https://api.anthropic.com",
  openai: "https://api.openai.com",
  gemini: "https://generativelanguage.googleapis.com",
  ollama: "http://127.0.0.1:11434",
};

/** A server that requests are passed to. */
export interface Upstream {
  readonly name: string;
  /** The host for messages: `example.com:8443`. */
  readonly host: string;
  /** The path that stands before every request's own, without a slash at its end. */
  readonly folder: string;
  readonly pool: Pool;
}

/** Limits of connections. A model may think for minutes, so nothing but connecting is timed. */
const limits = {
  connectMs: 10_000,
  headerBytes: 256 * 1_024,
  /** Idle connections are closed before servers close them: many close after five seconds, those behind TLS later. */
  idleMs: { "http:": 2_000, "https:": 30_000 },
  /** The time that is left to a server which tells how long it waits: timers are late by up to a second, and by what runs. */
  earlierMs: 3_000,
} as const;

/**
 * Makes the pools of a list.
 *
 * @param env - proxy variables, which are honoured for everything but this machine
 * @throws WindrowError `bad-option` for an address that is none, or that holds a password
 */
export function openUpstreams(
  given: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, Upstream> {
  const all = Object.entries({ ...defaultUpstreams, ...given });
  const checked = all.map(([name, address]) => [name, urlOf(name, address)] as const);
  return new Map(checked.map(([name, url]) => [name, open(name, url, env)]));
}

function open(name: string, url: URL, env: Readonly<Record<string, string | undefined>>): Upstream {
  const connect = tunnelFor(url, env, limits.connectMs);
  const pool = new Pool(url.origin, {
    connect: connect ?? { timeout: limits.connectMs },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: limits.headerBytes,
    keepAliveTimeout: limits.idleMs[url.protocol as "http:"],
    keepAliveTimeoutThreshold: limits.earlierMs,
    pipelining: 1,
  });
  return { name, host: url.host, folder: url.pathname.replace(/\/+$/, ""), pool };
}

function urlOf(name: string, address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const fault = (reason: string): WindrowError =>
    new WindrowError("bad-option", `The upstream "${name}" ${reason}, for example ${name}=https://example.com.`, {
      option: "upstreams",
      upstream: name,
    });
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) throw fault("needs a name of letters, digits, dots and dashes");
  if (!url || !/^https?:$/.test(url.protocol)) throw fault("needs an http or https address");
  // A password in an address ends in process lists; clients send their own keys.
  if (url.username !== "" || url.password !== "") throw fault("has a password in its address: clients send their own");
  if (url.search !== "" || url.hash !== "") throw fault("has a query in its address: it takes a host and a path");
  return url;
}
