/** JSON over HTTP for the model clients: keys from the environment, typed failures, no secret in an error. */
import { WindrowError } from "../errors.ts";
import { parseAddress, withoutSecrets } from "../address.ts";
import { asObject, fieldsOf } from "../message/json.ts";
import { modelFailed, withRetries } from "./retry.ts";
import type { Failure, RetryOptions } from "./retry.ts";

/** Options of every client over HTTP. */
export interface HttpOptions extends RetryOptions {
  /** The model's id as the server knows it. */
  readonly model: string;
  /**
   * The key. Default: from the environment, by the names in the client's documentation. It is never logged and never in
   * an error.
   */
  readonly apiKey?: string;
  /**
   * The server's address. Default: the provider's own. A user and password in it are sent as basic authorization,
   * without a key.
   */
  readonly baseUrl?: string;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request that sends and expects JSON. */
export interface JsonRequest {
  readonly url: string;
  /** The header for the key, and the text before the key in it. */
  readonly key?: { readonly header: string; readonly prefix?: string; readonly value: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

/**
 * The options of a model, which need its name.
 *
 * @throws WindrowError `bad-option`
 */
export function withModel<Options extends { readonly model: string }>(maker: string, options: Options): Options {
  if (typeof (options as Options | undefined)?.model === "string" && options.model !== "") return options;
  throw new WindrowError("bad-option", `${maker} takes { model: "the model's id" }.`, { option: "model" });
}

/** The fields of a server's JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * The key: the given one, else the first environment variable of the list that is set.
 *
 * @param needed - whether there is no going on without one
 * @throws WindrowError `bad-option` where it is needed and there is none, or where no header can carry it
 */
export function keyOf(given: string | undefined, names: readonly string[], needed: boolean): string | undefined {
  const found = [given, ...names.map((name) => process.env[name])].find(
    (key) => key !== undefined && key.trim() !== "",
  );
  if (found !== undefined && !/^[\x21-\x7e]+$/.test(found.trim())) {
    throw new WindrowError("bad-option", "The key holds a space or a character that no header takes; copy it anew.");
  }
  if (found !== undefined || !needed) return found?.trim();
  throw new WindrowError("bad-option", `No key: set ${names.join(" or ")} in the environment, or give \`apiKey\`.`, {
    variables: names,
  });
}

/**
 * Posts JSON and reads the JSON answer.
 *
 * @param name - the model, for errors
 * @throws WindrowError `aborted`, `model-failed` with `data.status`
 */
export async function postJson(
  name: string,
  { url, key, headers, body }: JsonRequest,
  options: RetryOptions,
  signal?: AbortSignal,
): Promise<Fields> {
  const address = parseAddress(url);
  if (!address) throw new WindrowError("bad-option", `${name}: a model's address begins with http:// or https://.`);
  // A key, or a header that authenticates, replaces the user and password of the address.
  const names = [...Object.keys(headers ?? {}), key?.header ?? ""].map((header) => header.toLowerCase());
  const hide = (text: string): string => (key ? text.replaceAll(key.value, "[key]") : text);
  const attempt = async (either: AbortSignal): Promise<Fields> => {
    const response = await fetch(address.url, {
      method: "POST",
      headers: {
        ...(address.authorization !== undefined &&
          !names.includes("authorization") && { authorization: address.authorization }),
        ...headers,
        "content-type": "application/json",
        ...(key && { [key.header]: `${key.prefix ?? ""}${key.value}` }),
      },
      body: JSON.stringify(body),
      // A redirect to another host would send the key there.
      redirect: "error",
      signal: either,
    });
    const text = await response.text();
    const json = parse(text);
    if (!response.ok) throw new Refused(response, hide(reasonOf(json, text)));
    if (json && (json["error"] ?? undefined) === undefined) return json;
    const message = json ? `it answered with an error: ${hide(reasonOf(json, text))}` : "its answer is no JSON object";
    throw modelFailed(name, { message, status: response.status, mayPass: false });
  };
  return withRetries(name, options, attempt, (error, now) => failureOf(error, now, address.host), signal);
}

/** A response with an error status. */
class Refused extends Error {
  readonly status: number;
  readonly headers: Headers;

  constructor({ status, headers }: Response, message: string) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

function failureOf(error: unknown, now: number, host: string): Failure {
  if (!(error instanceof Refused)) {
    // The error may quote a header's value; its cause is the system's own.
    const cause = fieldsOf(error)["cause"];
    const code = textOf(fieldsOf(cause)["code"]);
    const why = code || textOf(fieldsOf(cause)["message"]) || "the request could not be made";
    return { message: `${host} cannot be reached or broke off (${why})`, mayPass: code !== "", cause };
  }
  const { status, headers, message } = error;
  const retryAfterMs = pauseOf(headers, now);
  return {
    message: `HTTP ${status}: ${message}`,
    status,
    mayPass: mayPass(status),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** Whether a retry may help after this HTTP status: too many requests, a timeout, a conflict, a server error. */
export function mayPass(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** The pause in milliseconds that a server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function pauseOf(headers: Pick<Headers, "get">, now: number): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (exact >= 0) return exact;
  const given = headers.get("retry-after");
  if (given === null) return undefined;
  const seconds = Number(given);
  const pause = Number.isNaN(seconds) ? Date.parse(given) - now : seconds * 1_000;
  return Number.isNaN(pause) ? undefined : Math.max(0, pause);
}

function reasonOf(json: Fields | undefined, text: string): string {
  const error = json?.["error"] ?? json?.["message"] ?? json?.["detail"];
  const message = typeof error === "string" ? error : fieldsOf(error)["message"];
  const reason = typeof message === "string" && message !== "" ? message : text.trim() || "no reason given";
  return reason.length > 300 ? `${reason.slice(0, 300).toWellFormed()} …` : reason;
}

function parse(text: string): Fields | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The items of a list as objects; none for any other value. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

/** The value when it is a string, else the empty string. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The sum of the reported counts; undefined when none was reported. */
export function sumOf(...values: readonly unknown[]): number | undefined {
  const counts = values.filter((value): value is number => typeof value === "number" && value >= 0);
  return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
}

/** An object without its undefined fields. */
export function reported<Shape extends Readonly<Record<string, number | undefined>>>(
  counts: Shape,
): { readonly [Name in keyof Shape]?: number } {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined)) as {
    readonly [Name in keyof Shape]?: number;
  };
}

/** An address without the slash at its end, or the standard one. */
export function baseOf(given: string | undefined, standard: string): string {
  const base = (given ?? standard).replace(/\/+$/, "");
  if (/^https?:\/\//.test(base) && URL.canParse(base)) return base;
  throw new WindrowError(
    "bad-option",
    `A model's baseUrl begins with http:// or https://, not "${withoutSecrets(base)}".`,
    {
      baseUrl: withoutSecrets(base),
    },
  );
}
