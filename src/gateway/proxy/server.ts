/** The gateway's server: what comes from clients is guarded, finds its upstream, and passes. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { WindrowError } from "../../errors.ts";
import { isBearer, isLoopbackAddress } from "../../http/bearer.ts";
import { judge } from "../../http/guard.ts";
import type { Lines, WireApi } from "../gateway.ts";
import { inform } from "../../handed-in.ts";
import { checkedTenants, keyOf } from "../tenant.ts";
import type { TenantOf } from "../tenant.ts";
import { discardRest } from "./body.ts";
import { Course } from "./events.ts";
import type { GatewayEvent } from "./events.ts";
import { exchange } from "./exchange.ts";
import type { ExchangeLimits } from "./exchange.ts";
import { faultOf } from "./faults.ts";
import { isFramedOnce, valuesOf } from "./headers.ts";
import { listenAt } from "./listen.ts";
import { GatewayMetrics } from "./metrics.ts";
import { answerOwn } from "./own.ts";
import type { OwnPages, PageHandler } from "./own.ts";
import type { Planning } from "./plan.ts";
import { sendRefusal } from "./refusal.ts";
import { routeOf } from "./routes.ts";
import type { Family, Route } from "./routes.ts";
import { openUpstreams } from "./upstreams.ts";
import type { Upstream } from "./upstreams.ts";

/** The settings of a gateway. */
export interface ServeGatewayOptions {
  /** Default 4180; 0 for any port that is free. */
  readonly port?: number;
  /** Default `127.0.0.1`, with `::1` beside it. Any address that other machines reach needs a `token`. */
  readonly host?: string;
  /** Host names by which clients may call beside those of this machine. */
  readonly allowedHosts?: readonly string[];
  /** The token that every request then carries, as the header `x-windrow-token` or in its path (`/t/TOKEN/…`); at least 16 characters. */
  readonly token?: string;
  /** Servers by name, beside `anthropic`, `openai`, `gemini` and `ollama` or in their places: `{ corp: "https://llm.example.com/v2" }`. */
  readonly upstreams?: Readonly<Record<string, string>>;
  /** Keeps conversations, and says which bytes a request is sent with. Without it everything passes as it is. */
  readonly lines?: Lines;
  /** The APIs that are read. Default: none. */
  readonly apis?: readonly WireApi[];
  /** Makes the names of tenants of clients' keys. Default: by a secret that is gone with the process. */
  readonly tenants?: TenantOf;
  /** Answers everything below `/-/ui`, behind a guard of its own: a handler that `viewerHandler` makes. */
  readonly ui?: PageHandler;
  /** Called with every request that is over. */
  readonly on?: (event: GatewayEvent) => void;
  /** Proxy variables for the way outwards. Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Limits other than the defaults. */
  readonly limits?: Partial<GatewayLimits>;
}

/** Limits of a gateway. */
export interface GatewayLimits extends ExchangeLimits {
  /** Requests that may be under way at once. Default 512. */
  readonly streams: number;
  /** Milliseconds that lines may take, which promise a second: a request that waited so long passes as it is. Default 5,000. */
  readonly linesMs: number;
}

/** The limits of a gateway that is given none. */
export const defaultLimits: GatewayLimits = {
  streams: 512,
  linesMs: 5_000,
  bodyBytes: 64 * 1_024 * 1_024,
  errorBytes: 1_024 * 1_024,
  errorMs: 2_000,
  keepMs: 250,
  silenceMs: 30_000,
  leastRate: 8,
};

/** A gateway that listens. */
export interface Gateway {
  /** `http://127.0.0.1:4180`, without a slash at its end. */
  readonly url: string;
  /** Ends every connection. The lines stay open: whoever opened them closes them. */
  close(): Promise<void>;
}

/**
 * Serves a gateway between agents and their providers.
 *
 * @throws WindrowError `bad-option` for a wrong upstream, a short token, and an address that other machines reach without
 *   one; `store-unavailable` where the port is taken
 */
export async function serveGateway(options: ServeGatewayOptions = {}): Promise<Gateway> {
  const { port = 4_180, host = "127.0.0.1", token } = options;
  checkToken(token, host);
  const upstreams = openUpstreams(options.upstreams ?? {}, options.env ?? process.env);
  const house = new House(options, host, upstreams);
  const closePools = async (): Promise<void> => {
    await Promise.all([...upstreams.values()].map(({ pool }) => pool.destroy()));
  };
  try {
    const listening = await listenAt(host, port, (request, response, proceed) =>
      house.answer(request, response, proceed),
    );
    const name = host.includes(":") && !host.startsWith("[") && host !== "::1" ? `[${host}]` : host;
    house.port = listening.port;
    return {
      url: `http://${["::1", "[::1]", "localhost"].includes(name) ? "127.0.0.1" : name}:${listening.port}`,
      close: async () => void (await Promise.all([listening.close(), closePools()])),
    };
  } catch (error) {
    await closePools();
    throw error;
  }
}

function checkToken(token: string | undefined, host: string): void {
  // A token is never quoted: whoever reads the error could use what stands there.
  if (token !== undefined && !/^[\w.~-]{16,200}$/.test(token)) {
    const message =
      "A gateway's token has 16 to 200 letters, digits, dots, dashes or underscores, so that it fits into a path.";
    throw new WindrowError("bad-option", message, { option: "token" });
  }
  if (token !== undefined || isLoopbackAddress(host)) return;
  const message = `Other machines could send requests through ${host}: give a token, or listen on 127.0.0.1.`;
  throw new WindrowError("bad-option", message, { host });
}

/** The request's way through the house: guard, token, route, upstream. */
class House {
  readonly #options: ServeGatewayOptions;
  readonly #host: string;
  readonly #upstreams: ReadonlyMap<string, Upstream>;
  readonly #limits: GatewayLimits;
  readonly #planning: Planning;
  readonly #pages: OwnPages;
  readonly #metrics = new GatewayMetrics();
  #inFlight = 0;
  /** The port that is listened on, once it is known. */
  port = 0;

  constructor(options: ServeGatewayOptions, host: string, upstreams: ReadonlyMap<string, Upstream>) {
    const { apis = [], lines, ui, token, limits } = options;
    this.#options = options;
    this.#host = host;
    this.#upstreams = upstreams;
    this.#limits = { ...defaultLimits, ...limits };
    const tenants = checkedTenants(options.tenants);
    const tenantOf: Planning["tenantOf"] = (headers, path) => tenants(keyOf(headers, path));
    this.#planning = { apis, tenantOf, mostWaitMs: this.#limits.linesMs, ...(lines && { lines }) };
    const metrics = (): string => this.#metrics.text(this.#inFlight);
    this.#pages = { metrics, ...(ui && { ui }), ...(token !== undefined && { token }) };
  }

  /** Answers a request. It never throws. */
  answer(request: IncomingMessage, response: ServerResponse, proceed: () => void): void {
    const course = new Course(request.method ?? "", () => performance.now());
    this.#inFlight += 1;
    // Without listeners, a connection that breaks off would be an error that nobody catches.
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    response.sendDate = false;
    response.once("close", () => {
      this.#inFlight -= 1;
      discardRest(request, this.#limits);
      this.#tell(course);
    });
    this.#lead(request, response, course, proceed).catch(() => {
      if (response.headersSent) response.destroy();
      else refuse(response, course, "openai", 500, "The request could not be passed.");
    });
  }

  async #lead(request: IncomingMessage, response: ServerResponse, course: Course, proceed: () => void): Promise<void> {
    const { method = "", url: target = "", rawHeaders, headers } = request;
    const { allowedHosts = [], token } = this.#options;
    const say = (status: number, message: string, family: Family = "openai"): void =>
      refuse(response, course, family, status, message);
    // Node limits a target together with the headers; upstreams have limits of their own.
    const rules = { host: this.#host, allowedHosts, methods: [method], longestTarget: Number.POSITIVE_INFINITY };
    const judged = judge({ method, target, rawHeaders }, rules);
    if ("status" in judged) return say(judged.status, judged.message);
    if (!isFramedOnce(rawHeaders)) return say(400, "The request tells its length in more than one way.");
    const route = routeOf(target, headers);
    const isOwn = route !== undefined && route.upstream === undefined;
    course.path = route?.path.replace(/\?.*$/s, "") ?? "";
    if (isOfPage(request) && !(isOwn && isSameOrigin(request))) return say(403, "Web pages may not call here.");
    // HTTP/2 without TLS may be offered on any request; it is passed over, as HTTP allows.
    if (/websocket/i.test(headers.upgrade ?? "")) return say(426, "Only plain HTTP is spoken here.", route?.family);
    if (!route) return say(404, "No upstream belongs to this path. /u/NAME/… picks one of the configured list.");
    const hasToken = token !== undefined && isToken(token, headers["x-windrow-token"], route);
    if (isOwn) {
      course.outcome = "own";
      course.status = await answerOwn(request, response, route.path, hasToken, this.#pages);
      return;
    }
    if (token !== undefined && !hasToken)
      return say(401, "The gateway's token is needed: x-windrow-token.", route.family);
    const upstream = this.#upstreams.get(route.upstream ?? "");
    if (!upstream) return say(404, "No upstream of the configured list has this name.", route.family);
    course.upstream = upstream.name;
    if (this.#isSelf(upstream)) return say(508, "This upstream is the gateway itself.", route.family);
    if (this.#inFlight > this.#limits.streams) return say(503, "Too many requests are under way.", route.family);
    proceed();
    await exchange({ request, response, route, upstream, course }, this.#planning, this.#limits);
  }

  #isSelf({ host }: Upstream): boolean {
    const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
    return Number(port) === this.port && isLoopbackAddress(name);
  }

  #tell(course: Course): void {
    const event = course.event();
    this.#metrics.add(event);
    inform(this.#options.on, event, "the end of a request");
  }
}

function isToken(token: string, header: string | string[] | undefined, { token: inPath }: Route): boolean {
  const given = inPath ?? (typeof header === "string" ? header : "");
  return isBearer(`Bearer ${given}`, token);
}

/** Whether a page in a browser asks, as its headers tell: not every request of one has an `Origin`. */
function isOfPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || /^(?:cross|same)-site$/.test(String(headers["sec-fetch-site"] ?? ""));
}

/** Whether a page of the gateway itself asks. */
function isSameOrigin({ rawHeaders }: IncomingMessage): boolean {
  const [host = ""] = valuesOf(rawHeaders, "host");
  const origins = valuesOf(rawHeaders, "origin");
  return origins.length > 0 && origins.every((origin) => URL.canParse(origin) && new URL(origin).host === host);
}

function refuse(response: ServerResponse, course: Course, family: Family, status: number, message: string): void {
  sendRefusal({ response, course, status, note: "refused", fault: faultOf(family, status, message) });
}
