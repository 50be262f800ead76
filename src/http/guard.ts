/** The guard refuses a request that is malformed or meant for another server, before a handler sees it. */

/** A request as far as the guard looks at it. */
export interface GuardedRequest {
  readonly method: string;
  /** The request target as it was sent. */
  readonly target: string;
  /** Header names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
}

/** The rules of who may ask for what. */
export interface GuardRules {
  /** The address that the server is bound to. */
  readonly host: string;
  /** Host names by which clients may call beside those of this machine and the bound address. */
  readonly allowedHosts: readonly string[];
  readonly methods: readonly string[];
  /** Longest request target, in characters. Default 8,192. */
  readonly longestTarget?: number;
}

/** An answer in place of the handler's. */
export interface Refusal {
  readonly status: 400 | 403 | 405;
  /** For people; it quotes nothing of the request. */
  readonly message: string;
}

/** Longest request target where no other is given, in characters. */
const usualTarget = 8_192;

/**
 * Judges a request. Ports are not compared, because a forwarded port has another number on the outside.
 *
 * @returns the target as a URL of which only path and query are of use, or the refusal
 */
export function judge({ method, target, rawHeaders }: GuardedRequest, rules: GuardRules): URL | Refusal {
  const url = urlOf(target, rules.longestTarget ?? usualTarget);
  if (!url) return { status: 400, message: "The request's target is malformed." };
  const hosts = valuesOf(rawHeaders, "host");
  const [host] = hosts;
  if (hosts.length !== 1 || host === undefined) return { status: 400, message: "One Host header is needed." };
  const name = hostNameOf(host);
  if (name === undefined) return { status: 400, message: "The Host header is malformed." };
  if (!isAllowed(name, rules)) {
    return { status: 403, message: "This host name is not allowed here (--allow-host allows one)." };
  }
  const origins = valuesOf(rawHeaders, "origin");
  if (!origins.every((origin) => isAllowedOrigin(origin, rules))) {
    return { status: 403, message: "Pages of this origin may not call (--allow-host allows its host)." };
  }
  if (!rules.methods.includes(method)) return { status: 405, message: `Only ${rules.methods.join(", ")} here.` };
  return url;
}

/** The path and query of a target that begins with one slash, has a rightly encoded path, and is not too long. */
function urlOf(target: string, longest: number): URL | undefined {
  if (!/^\/(?![/\\])[\u0021-\u007e]*$/.test(target) || target.length > longest) return undefined;
  try {
    // A decoding whose result is not looked at would be left out of the bundle, and with it what it throws.
    return decodeURIComponent(target.replace(/\?.*$/s, "")).startsWith("/")
      ? new URL(`http://host${target}`)
      : undefined;
  } catch {
    return undefined;
  }
}

function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  return rawHeaders.filter((_, place) => place % 2 === 1 && rawHeaders[place - 1]?.toLowerCase() === name);
}

/** The host of a `Host` header in the form that URLs give it: without port, lower case, addresses in short form. */
function hostNameOf(header: string): string | undefined {
  if (!/^(?:\[[\d:.a-f]+\]|[\w.-]+)(?::\d{0,5})?$/i.test(header)) return undefined;
  const url = `http://${header}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/(?<=.)\.$/, "") : undefined;
}

function isAllowedOrigin(origin: string, rules: GuardRules): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host, hostname } = new URL(origin);
  return /^https?:$/.test(protocol) && host !== "" && isAllowed(hostname.replace(/(?<=.)\.$/, ""), rules);
}

function isAllowed(name: string, { host, allowedHosts }: GuardRules): boolean {
  if (isLoopback(name)) return true;
  const bound = hostNameOf(bracketed(host));
  // If a server is open to other machines, an address is as good as the bound one: rebinding needs a name.
  if (bound !== undefined && !isLoopback(bound) && isAddress(name)) return true;
  return [bound, ...allowedHosts.map((allowed) => hostNameOf(bracketed(allowed)))].includes(name);
}

function isLoopback(name: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/.test(name);
}

function isAddress(name: string): boolean {
  return /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\d:a-f]+\])$/.test(name);
}

/** An IPv6 address as a URL writes it. */
function bracketed(host: string): string {
  return /^[\da-f.:]*:[\da-f.:]*:[\da-f.:]*$/i.test(host) ? `[${host}]` : host;
}
