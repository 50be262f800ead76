/** JSON over HTTP for the model clients: keys from the environment, typed failures, no secret in an error. */
import { WindrowError } from "../errors.ts";
import { parseAddress, withoutSecrets } from "../address.ts";
import { asName, asObject, asString, fieldsOf } from "../message/json.ts";
import type { JsonObject } from "../message/message.ts";
import { mayPass, modelFailed, pauseOf, withRetries } from "./retry.ts";
import type { Failure, RetryOptions } from "./retry.ts";

/** One request that sends and expects JSON. */
export interface JsonRequest {
  readonly url: string;
  /** The header for the key, and the text before the key in it. */
  readonly key?: { readonly header: string; readonly prefix?: string; readonly value: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

/**
 * The key: the given one, else the first environment variable of the list that is set; undefined if neither exists and
 * the list is empty.
 *
 * @throws WindrowError `bad-option` if the list names variables and none is set, or if no header can carry the key
 */
export function keyOf(given: string | undefined, names: readonly string[]): string | undefined {
  const found = [given, ...names.map((name) => process.env[name])].find((key) => (key ?? "").trim() !== "")?.trim();
  if (found !== undefined && !/^[\x21-\x7e]+$/.test(found)) {
    throw new WindrowError("bad-option", "The key holds a space or a character that no header takes; copy it anew.");
  }
  if (found !== undefined || names.length === 0) return found;
  throw new WindrowError("bad-option", `No key: set ${names.join(" or ")} in the environment, or give \`apiKey\`.`, {
    variables: names,
  });
}

/**
 * An address without the slash at its end.
 *
 * @throws WindrowError `bad-option` for an address of another scheme than HTTP
 */
export function baseOf(given: string): string {
  const base = given.replace(/\/+$/, "");
  if (/^https?:\/\//.test(base) && URL.canParse(base)) return base;
  const baseUrl = withoutSecrets(base);
  const message = `A model's baseUrl begins with http:// or https://, not "${baseUrl}".`;
  throw new WindrowError("bad-option", message, { baseUrl });
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
): Promise<JsonObject> {
  const address = parseAddress(url);
  if (!address) throw new WindrowError("bad-option", `${name}: a model's address begins with http:// or https://.`);
  // A key, or a header that authenticates, replaces the user and password of the address.
  const names = [...Object.keys(headers ?? {}), key?.header ?? ""].map((header) => header.toLowerCase());
  const hide = (text: string): string => (key ? text.replaceAll(key.value, "[key]") : text);
  const attempt = async (either: AbortSignal): Promise<JsonObject> => {
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
  if (error instanceof Refused) {
    const { status, headers, message } = error;
    return { message: `HTTP ${status}: ${message}`, status, mayPass: mayPass(status), ...pauseOf(headers, now) };
  }
  // The error may quote a header's value; its cause is the system's own.
  const cause = fieldsOf(error)["cause"];
  const { code, message } = fieldsOf(cause);
  const why = asName(code) ?? asName(message) ?? "the request could not be made";
  return { message: `${host} cannot be reached or broke off (${why})`, mayPass: asName(code) !== undefined, cause };
}

function reasonOf(json: JsonObject | undefined, text: string): string {
  const error = json?.["error"] ?? json?.["message"] ?? json?.["detail"];
  const message = asString(error) ?? fieldsOf(error)["message"];
  const reason = asName(message) ?? (text.trim() || "no reason given");
  return reason.length > 300 ? `${reason.slice(0, 300).toWellFormed()} …` : reason;
}

function parse(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}
