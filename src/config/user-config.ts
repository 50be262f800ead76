/** Fetches a user's own settings from an HTTP server. */
import { userSettings } from "./schema.ts";
import type { UserSettings } from "./schema.ts";
import { parseAddress, withoutSecrets } from "../address.ts";
import { isObject } from "../message/json.ts";

/** The server of users' settings. */
export interface UserConfigOptions {
  /**
   * The address. `{user}` in it becomes the user's name; without it, `?user=` is added. A user and password in it are
   * sent as basic authorization, unless there is an `apiKey`.
   */
  readonly url: string;
  /** Milliseconds to wait for the whole answer. Default 2,000. */
  readonly timeout?: number;
  /** Milliseconds that an answer stays valid. Default 300,000. */
  readonly cache?: number;
  /**
   * The key, sent as `Authorization: Bearer …`. The command line reads it from USER_CONFIG_API_KEY. It is never in a
   * message.
   */
  readonly apiKey?: string;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
}

/** The answer to a request for a user's settings. */
export interface UserConfigAnswer {
  /** The settings; empty when there is no answer. */
  readonly settings: UserSettings;
  /** The reason for a missing or outdated answer. Absent otherwise. */
  readonly failure?: string;
}

/** Milliseconds before a server that failed is asked again. */
const restMs = 30_000;

/** Most users with a remembered answer. */
const mostRemembered = 1_000;

interface Remembered {
  readonly answer: UserConfigAnswer;
  readonly until: number;
}

const remembered = new Map<string, Remembered>();

/**
 * Fetches a user's settings. It never fails: when the server is unreachable, too slow, refuses or answers nonsense, an
 * older answer stands, else the other layers; `failure` says why. Keys that may not differ between users (the store,
 * the user, the role) are ignored.
 */
export async function fetchUserConfig(
  user: string,
  options: UserConfigOptions,
  signal?: AbortSignal,
): Promise<UserConfigAnswer> {
  const { timeout = 2_000, cache = 300_000, now = () => Date.now() } = options;
  const address = parseAddress(addressOf(options.url, user));
  if (!address)
    return { settings: {}, failure: "its address begins with neither https:// nor http://; defaults stand" };
  const authorization = options.apiKey === undefined ? address.authorization : `Bearer ${options.apiKey}`;
  const key = `${address.url}\n${authorization ?? ""}`;
  const known = remembered.get(key);
  if (known && now() < known.until) return known.answer;
  const deadline = AbortSignal.timeout(timeout);
  try {
    const settings = await ask(address.url, authorization, signal ? AbortSignal.any([deadline, signal]) : deadline);
    return remember(key, { settings }, now() + cache);
  } catch (error) {
    if (signal?.aborted) throw error;
    const why = deadline.aborted ? `no answer within ${timeout} ms` : reasonOf(error);
    const older = known?.answer.settings;
    const failure = `${address.host}: ${why}; ${older ? "an older answer stands" : "defaults stand"}`;
    return remember(key, { settings: older ?? {}, failure }, now() + Math.min(restMs, cache));
  }
}

function remember(key: string, answer: UserConfigAnswer, until: number): UserConfigAnswer {
  remembered.delete(key);
  remembered.set(key, { answer, until });
  const [oldest] = remembered.keys();
  if (remembered.size > mostRemembered && oldest !== undefined) remembered.delete(oldest);
  return answer;
}

async function ask(address: string, authorization: string | undefined, signal: AbortSignal): Promise<UserSettings> {
  const headers = { accept: "application/json", ...(authorization !== undefined && { authorization }) };
  const response = await fetch(address, { headers, signal, redirect: "manual" });
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}, a redirect, which is not followed; name the address it leads to`);
  }
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const answer = parse(await response.text());
  if (!isObject(answer)) throw new Error("its answer is no JSON object");
  const parsed = userSettings.safeParse(answer);
  if (parsed.success) return parsed.data as UserSettings;
  const [issue] = parsed.error.issues;
  throw new Error(`its answer is wrong at "${issue?.path.join(".")}": ${issue?.message}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function addressOf(url: string, user: string): string {
  if (url.includes("{user}")) return url.replaceAll("{user}", encodeURIComponent(user));
  const address = new URL(url);
  address.searchParams.set("user", user);
  return address.href;
}

/** Node's fetch reports "fetch failed" and puts the reason into its cause. An address may hold a password. */
function reasonOf(error: unknown): string {
  const { message = String(error), cause } = error as {
    readonly message?: string;
    readonly cause?: { readonly code?: string };
  };
  return cause?.code ?? withoutSecrets(message);
}
