/** Counts of what passed, in the text format of Prometheus. */
import type { GatewayEvent } from "./events.ts";

/** Upper bounds of the histograms, in seconds. */
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Counts requests since the start of a gateway. */
export class GatewayMetrics {
  readonly #requests = new Map<string, number>();
  readonly #bypassed = new Map<string, number>();
  readonly #firstByte = new Histogram();
  readonly #total = new Histogram();
  #bytesOut = 0;
  #bytesIn = 0;

  /** Counts a request that is over. */
  add(event: GatewayEvent): void {
    const { upstream = "", outcome, status, note = "" } = event;
    count(this.#requests, labels({ upstream, outcome, status: String(status) }));
    const reason = /^bypassed; reason=([\w-]+)/.exec(note)?.[1];
    if (reason !== undefined) count(this.#bypassed, labels({ reason }));
    if (event.firstByteMs !== undefined) this.#firstByte.add(event.firstByteMs / 1_000);
    if (outcome !== "own") this.#total.add(event.totalMs / 1_000);
    this.#bytesOut += event.bytesOut;
    this.#bytesIn += event.bytesIn;
  }

  /** @param inFlight - requests that are under way */
  text(inFlight: number): string {
    const name = "windrow_gateway";
    return [
      ...metric(`${name}_in_flight`, "gauge", "Requests under way.", [["", inFlight]]),
      ...metric(`${name}_requests_total`, "counter", "Requests that are over.", this.#requests),
      ...metric(`${name}_bypassed_total`, "counter", "Requests passed unread, by reason.", this.#bypassed),
      ...metric(`${name}_request_bytes_total`, "counter", "Bytes of bodies sent on.", [["", this.#bytesOut]]),
      ...metric(`${name}_response_bytes_total`, "counter", "Bytes of answers.", [["", this.#bytesIn]]),
      ...this.#firstByte.lines(`${name}_first_byte_seconds`, "Time to an answer's head."),
      ...this.#total.lines(`${name}_request_seconds`, "Time to an answer's end."),
      "",
    ].join("\n");
  }
}

class Histogram {
  readonly #counts = bounds.map(() => 0);
  #count = 0;
  #sum = 0;

  add(seconds: number): void {
    this.#count += 1;
    this.#sum += seconds;
    for (const [place, bound] of bounds.entries()) if (seconds <= bound) this.#counts[place]! += 1;
  }

  lines(name: string, help: string): readonly string[] {
    const buckets = bounds.map((bound, place) => `${name}_bucket{le="${bound}"} ${this.#counts[place]}`);
    const ends = [
      `${name}_bucket{le="+Inf"} ${this.#count}`,
      `${name}_sum ${this.#sum}`,
      `${name}_count ${this.#count}`,
    ];
    return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...buckets, ...ends];
  }
}

function metric(name: string, type: string, help: string, values: Iterable<readonly [string, number]>): string[] {
  const lines = [...values].map(([label, value]) => `${name}${label} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

function count(counts: Map<string, number>, label: string): void {
  counts.set(label, (counts.get(label) ?? 0) + 1);
}

function labels(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).map(([name, value]) => `${name}="${value.replaceAll(/[^\w.-]/g, "_")}"`);
  return `{${pairs.join(",")}}`;
}
