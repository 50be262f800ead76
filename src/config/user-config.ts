/** A user's own settings, asked of an HTTP server (seed 001 §6.1, USER_CONFIG_API). */
import { userSettings } from "./schema.ts";
import type { UserSettings } from "./schema.ts";
import { parseAddress, withoutSecrets } from "../address.ts";
import { isObject } from "../message/json.ts";

/** Where and how to ask. */
export interface UserConfigOptions {
  /**
   * `{user}` in it becomes the user's name; without, `?user=` is added. A user and password in it are sent as basic
   * authorization, unless there is an `apiKey`.
   */
  readonly url: string;
  /** Milliseconds to wait for the whole answer. Default 2,000. */
  readonly timeout?: number;
  /** Milliseconds an answer holds. Default 300,000. */
  readonly cache?: number;
  /** Sent as `Authorization: Bearer …`; the command line takes it from USER_CONFIG_API_KEY. Never in a message. */
  readonly apiKey?: string;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
}

/** What came of asking. */
export interface UserConfigAnswer {
  /** Empty where there is no answer. */
  readonly settings: UserSettings;
  /** Why there is no answer, or only an older one; absent where all is well. */
  readonly failure?: string;
}

/** Milliseconds for which a server that failed is not asked again. */
const restMs = 30_000;

/** Most users whose answers are remembered. */
const mostRemembered = 1_000;

interface Remembered {
  readonly answer: UserConfigAnswer;
  readonly until: number;
}

const remembered = new Map<string, Remembered>();

/**
 * Asks for a user's settings. It never fails: where the server cannot be reached, is too slow, refuses, or answers with
 * what are no settings, an older answer stands, else the settings of the other layers; `failure` says why. Keys that may
 * not differ by user (the store, the user, the role) are passed over.
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

/** Node's fetch says "fetch failed"; its cause says why. An address may hold a password. */
function reasonOf(error: unknown): string {
  const { message = String(error), cause } = error as {
    readonly message?: string;
    readonly cause?: { readonly code?: string };
  };
  return cause?.code ?? withoutSecrets(message);
}
