/** A bucket on the loopback that speaks as much of S3 as an archive needs, with conditional writes, faults and pauses. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { S3Client } from "windrow/store";

/** What is done to a request: `before`, nothing of it happens; `after`, it is done and only the answer is lost. */
export interface S3Fault {
  readonly method: string;
  readonly how: "500" | "cut";
  readonly when: "before" | "after";
}

/** The server, and what lies in it. */
export interface FakeS3 {
  readonly url: string;
  /** Objects by bucket and key: `bucket/prefix/key`. */
  readonly objects: Map<string, Buffer>;
  /** Requests so far, as `PUT 412`. */
  readonly log: string[];
  /** The next requests of their method go wrong, one fault each. */
  readonly faults: S3Fault[];
  /** Every answer waits so many milliseconds. */
  delay: number;
  close(): Promise<void>;
}

/** Keys in one page of a list, few so that lists have several. */
const pageKeys = 2;

/** Starts the server. */
export async function startFakeS3(): Promise<FakeS3> {
  const objects = new Map<string, Buffer>();
  const [log, faults]: [string[], S3Fault[]] = [[], []];
  const answer = (
    request: IncomingMessage,
    body: Buffer,
  ): readonly [number, string | Buffer, Record<string, string>] => {
    const url = new URL(request.url ?? "/", "http://s3");
    const key = decodeURIComponent(url.pathname.slice(1));
    const found = objects.get(key);
    const etag = (bytes: Buffer): Record<string, string> => ({
      etag: `"${createHash("md5").update(bytes).digest("hex")}"`,
    });
    if (request.method === "PUT") {
      if (request.headers["if-none-match"] === "*" && found) return [412, fault("PreconditionFailed"), {}];
      objects.set(key, body);
      return [200, "", etag(body)];
    }
    if (request.method === "DELETE") {
      objects.delete(key);
      return [204, "", {}];
    }
    if (!url.searchParams.has("list-type")) return found ? [200, found, etag(found)] : [404, fault("NoSuchKey"), {}];
    const bucket = `${key.replace(/\/$/, "")}/`;
    const prefix = url.searchParams.get("prefix") ?? "";
    const after = url.searchParams.get("continuation-token") ?? "";
    const names = [...objects.keys()]
      .filter((name) => name.startsWith(bucket))
      .map((name) => name.slice(bucket.length));
    const asked = names.filter((name) => name.startsWith(prefix) && name > after).toSorted();
    const page = asked.slice(0, pageKeys);
    const next =
      asked.length > pageKeys ? `<NextContinuationToken>${escaped(page.at(-1) ?? "")}</NextContinuationToken>` : "";
    const rows = page.map((name) => `<Contents><Key>${escaped(name)}</Key></Contents>`).join("");
    const truncated = `<IsTruncated>${next !== ""}</IsTruncated>`;
    return [200, `<?xml version="1.0"?><ListBucketResult>${truncated}${rows}${next}</ListBucketResult>`, {}];
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void respond(request, response, Buffer.concat(chunks)));
  });
  const respond = async (request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> => {
    if (fake.delay > 0) await sleep(fake.delay);
    const index = faults.findIndex(({ method }) => method === request.method);
    const [wrong] = index === -1 ? [] : faults.splice(index, 1);
    const [status, text, headers] =
      wrong?.when === "before" ? [500, fault("InternalError"), {}] : answer(request, body);
    log.push(`${request.method} ${wrong ? wrong.how : status}`);
    if (wrong?.how === "cut") return void request.socket.destroy();
    response.writeHead(wrong ? 500 : status, headers);
    response.end(wrong ? fault("InternalError") : text);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const fake: FakeS3 = {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, objects, log, faults, delay: 0 },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return fake;
}

/** A client of it with the calls, answers and errors of the SDK's. */
export function fakeS3Client(url: string): S3Client {
  const send = async (method: string, path: string, body?: Uint8Array, match?: string): Promise<Response> => {
    const headers = match === undefined ? {} : { "if-none-match": match };
    const response = await fetch(`${url}/${path}`, { method, headers, ...(body && { body: Buffer.from(body) }) });
    if (response.ok) return response;
    const name = /<Code>(.*)<\/Code>/.exec(await response.text())?.[1] ?? "Unknown";
    throw Object.assign(new Error(name), { name, $metadata: { httpStatusCode: response.status } });
  };
  return {
    putObject: ({ Bucket, Key, Body, IfNoneMatch }) => send("PUT", pathOf(Bucket, Key), Body, IfNoneMatch),
    async getObject({ Bucket, Key }) {
      const response = await send("GET", pathOf(Bucket, Key));
      return { Body: { transformToByteArray: async () => new Uint8Array(await response.arrayBuffer()) } };
    },
    deleteObject: ({ Bucket, Key }) => send("DELETE", pathOf(Bucket, Key)),
    async listObjectsV2({ Bucket, Prefix, ContinuationToken }) {
      const token =
        ContinuationToken === undefined ? "" : `&continuation-token=${encodeURIComponent(ContinuationToken)}`;
      const response = await send("GET", `${Bucket}?list-type=2&prefix=${encodeURIComponent(Prefix)}${token}`);
      const text = await response.text();
      const next = /<NextContinuationToken>(.*?)<\/NextContinuationToken>/.exec(text)?.[1];
      const names = [...text.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, name = ""]) => ({
        Key: name.replaceAll("&amp;", "&"),
      }));
      return { Contents: names, NextContinuationToken: next?.replaceAll("&amp;", "&") };
    },
  };
}

function pathOf(bucket: string, key: string): string {
  return `${bucket}/${key.split("/").map(encodeURIComponent).join("/")}`;
}

function fault(code: string): string {
  return `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;");
}
