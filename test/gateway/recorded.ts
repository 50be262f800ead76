/** Requests of real clients, where their recordings lie beside the repository. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { WireRequest } from "windrow/gateway";
import { wireApiOf } from "../kit/inside/gateway.ts";
import type { JsonObject } from "../kit/inside/message.ts";

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject | null;
}

const places = ["../../..", "../../../.."].map((up) => join(import.meta.dirname, up, "shared/gateway/recordings"));
const folder = places.find((place) => existsSync(place));
if (folder === undefined) console.log("The recordings of real clients are absent: their tests are left out.");

/** The names of the recordings; none where they are absent. */
export const recordings = folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith(".json"));

export function recordedIn(name: string): readonly Recorded[] {
  const entries = JSON.parse(readFileSync(join(folder!, name), "utf8")) as readonly (Recorded & { request: string })[];
  return entries.map(({ request, ...rest }) => {
    const [method = "", path = ""] = request.split(" ");
    return { ...rest, method, path };
  });
}

/** The requests of a recording that an API reads. Fails where one is not read. */
export function requestsIn(name: string, change = (body: JsonObject): JsonObject => body): readonly WireRequest[] {
  return recordedIn(name).flatMap(({ method, path, headers, body }) => {
    const api = wireApiOf(method, path);
    if (!api || !body) return [];
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const read = api.read({ method, path, headers: lower, body: Buffer.from(JSON.stringify(change(body))) });
    if (!read) throw new Error(`${name}: ${method} ${path} was not read`);
    return [read];
  });
}
