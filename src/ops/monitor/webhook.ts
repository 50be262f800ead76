/** Telling a webhook of alerts: a POST with JSON, tried again until it is taken. */
import { WindrowError } from "../../errors.ts";
import { parseAddress, withoutSecrets } from "../../address.ts";
import type { Address } from "../../address.ts";
import type { AlertEvent } from "./alerts.ts";
import { pause } from "../look/pause.ts";

/** The address of a webhook, and how to post to it. */
export interface WebhookOptions {
  /**
   * `http:` or `https:`. It may hold a secret, so no message names more of it than the host. A user and password in it
   * are sent as basic authorization. Redirects are not followed.
   */
  readonly url: string;
  /** Waits between tries: 1 s, 2 s, 4 s … Default: a timer. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** How often one post is tried before it waits for the next call, and the milliseconds of one try. */
const [attempts, timeout] = [4, 10_000];

/** Posts that wait for a webhook that does not answer; older ones give way. */
const mostWaiting = 100;

/** A webhook. What it would not take is tried again with the next call. */
export class Webhook {
  readonly #address: Address;
  readonly #options: WebhookOptions;
  #waiting: object[] = [];

  /** @throws WindrowError `bad-option` for what is no address */
  constructor(options: WebhookOptions) {
    const address = parseAddress(options?.url);
    if (!address) {
      throw new WindrowError("bad-option", "A webhook is an address that begins with https:// or http://.");
    }
    this.#address = address;
    this.#options = options;
  }

  /**
   * Posts events, one after the other: `{ source, type, time, name, level, value, limit, message, text }`.
   *
   * @returns why it could not, or undefined; it never throws
   */
  async send(events: readonly AlertEvent[], time: Date, signal?: AbortSignal): Promise<string | undefined> {
    const bodies = events.map((event) => {
      const text = `${event.type === "alert-raised" ? `Alert (${event.level})` : "Alert over"}: ${event.message}`;
      return { source: "windrow", time: time.toISOString(), ...event, text };
    });
    this.#waiting = [...this.#waiting, ...bodies].slice(-mostWaiting);
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const failure = await this.#post(next, signal);
      if (failure !== undefined) return `${this.#address.host}: ${failure}; ${this.#waiting.length} to tell it`;
      this.#waiting.shift();
    }
    return undefined;
  }

  async #post(body: object, signal: AbortSignal | undefined): Promise<string | undefined> {
    const { url, authorization } = this.#address;
    const { sleep = pause } = this.#options;
    let failure = "";
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (attempt > 0) await sleep(1_000 * 2 ** (attempt - 1), signal);
      if (signal?.aborted) return "stopped";
      const deadline = AbortSignal.timeout(timeout);
      try {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", ...(authorization !== undefined && { authorization }) },
          body: JSON.stringify(body),
          // Another address than the one that was named gets no post.
          redirect: "manual",
          signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
        });
        await response.body?.cancel();
        if (response.ok) return undefined;
        failure = `status ${response.status}`;
        if (response.status >= 300 && response.status < 400) {
          return `${failure}, a redirect, which is not followed; name the address it leads to`;
        }
        if (response.status < 500 && response.status !== 429 && response.status !== 408) return failure;
      } catch (error) {
        failure = deadline.aborted ? `no answer within ${timeout} ms` : reasonOf(error);
      }
    }
    return failure;
  }
}

/** Node's fetch says "fetch failed"; its cause says why. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { readonly message?: string; readonly cause?: { readonly code?: string } };
  return cause?.code ?? withoutSecrets(message ?? String(error));
}
