/** Connections through the proxy of this machine's environment: a tunnel of the method CONNECT. */
import { buildConnector, Client } from "undici";
import type { Socket } from "node:net";
import { isLoopbackAddress } from "../../http/bearer.ts";
import { parseAddress } from "../../address.ts";
import { WindrowError } from "../../errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A function that connects through the proxy that the environment names for an address (`HTTPS_PROXY`, `HTTP_PROXY`,
 * `NO_PROXY`, in capitals or not).
 *
 * @returns undefined where none is named; addresses of this machine never have one
 * @throws WindrowError `bad-option` for a proxy that is neither http nor https
 */
export function tunnelFor(url: URL, env: Environment, connectMs: number): buildConnector.connector | undefined {
  const variable = `${url.protocol === "https:" ? "https" : "http"}_proxy`;
  const named = valueOf(env, variable);
  if (named === undefined || isLoopbackAddress(url.hostname) || isExempt(url, valueOf(env, "no_proxy")))
    return undefined;
  const proxy = parseAddress(/^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`);
  if (!proxy) {
    const message = `${variable.toUpperCase()} is no address of an http or https proxy, which is all that the gateway can use.`;
    throw new WindrowError("bad-option", message, { variable });
  }
  const secure = buildConnector({ timeout: connectMs });
  const target = `${url.hostname}:${url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port}`;
  const headers = { host: target, ...(proxy.authorization && { "proxy-authorization": proxy.authorization }) };
  return (options, callback) => {
    const client = new Client(new URL(proxy.url).origin, { connect: { timeout: connectMs } });
    const call = { path: target, headers, signal: AbortSignal.timeout(connectMs) };
    client.connect(call, (error, data) => {
      // The tunnel's socket is not the client's any more, and no other call is made with it.
      client.destroy(() => undefined);
      if (error) return callback(error, null);
      const { socket, statusCode } = data;
      if (statusCode === 200) {
        if (url.protocol === "https:") secure({ ...options, httpSocket: socket as Socket }, callback);
        else callback(null, socket as Socket);
        return;
      }
      socket.on("error", () => undefined).destroy();
      callback(refusal(statusCode), null);
    });
  };
}

function refusal(status: number): Error {
  return Object.assign(new Error("The proxy refused the tunnel."), { code: `PROXY_ANSWERED_${status}` });
}

function valueOf(env: Environment, name: string): string | undefined {
  const value = env[name] ?? env[name.toUpperCase()];
  return value === "" ? undefined : value;
}

/** Whether `NO_PROXY` names a host: itself, a domain above it, or everything, each with a port or not. */
function isExempt(url: URL, list: string | undefined): boolean {
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  return (list ?? "").split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, host = "", only = port] = /^\*?\.?(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    return host !== "" && only === port && (url.hostname === host || url.hostname.endsWith(`.${host}`));
  });
}
