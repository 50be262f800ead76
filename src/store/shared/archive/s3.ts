/** An archive in a bucket of S3 or of a store that speaks its protocol, over a client that the user brings. */
import { setTimeout as wait } from "node:timers/promises";
import { WindrowError } from "../../../errors.ts";
import type { ArchiveBucket } from "./bucket.ts";

/** The part of a client that is used: an `S3` of the package `@aws-sdk/client-s3` has it. */
export interface S3Client {
  putObject(input: {
    readonly Bucket: string;
    readonly Key: string;
    readonly Body: Uint8Array;
    readonly IfNoneMatch: string;
    readonly ContentType: string;
  }): Promise<unknown>;
  getObject(input: {
    readonly Bucket: string;
    readonly Key: string;
  }): Promise<{ readonly Body?: { transformToByteArray(): Promise<Uint8Array> } | undefined }>;
  deleteObject(input: { readonly Bucket: string; readonly Key: string }): Promise<unknown>;
  listObjectsV2(input: {
    readonly Bucket: string;
    readonly Prefix: string;
    readonly ContinuationToken?: string;
  }): Promise<{
    readonly Contents?: readonly { readonly Key?: string | undefined }[] | undefined;
    readonly NextContinuationToken?: string | undefined;
  }>;
}

/** How a bucket is used. */
export interface S3ArchiveOptions {
  /** `new S3({ region })` of `@aws-sdk/client-s3`. It stays the caller's. */
  readonly client: S3Client;
  readonly bucket: string;
  /** Begins every object's name, as `agents/`. Default: none. */
  readonly prefix?: string;
  /** Waits before a request is sent again, in milliseconds. Default: a timer. */
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/** How often a request is sent that the server could not answer, and the first pause, which doubles. */
const tries = 5;
const firstPauseMs = 200;

/**
 * An archive in a bucket. Objects are written with `If-None-Match: *`, so that none is replaced; a request whose outcome is
 * not known is sent again.
 */
export function s3Archive({ client, bucket, prefix = "", pause = wait }: S3ArchiveOptions): ArchiveBucket {
  const start = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  const location = `s3://${bucket}/${start}`.replace(/\/$/, "");
  const ask = async <T>(send: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send();
      } catch (error) {
        const status = statusOf(error);
        const mayPass = status === undefined || status === 409 || status === 429 || status >= 500;
        if (status === 404 || status === 412) throw error;
        if (!mayPass || attempt === tries) throw failure(location, error, status);
        await pause(firstPauseMs * 2 ** (attempt - 1));
      }
    }
  };
  return {
    location,
    async put(key, body) {
      const object = { Bucket: bucket, Key: `${start}${key}`, Body: body, ContentType: "application/gzip" };
      try {
        await ask(() => client.putObject({ ...object, IfNoneMatch: "*" }));
      } catch (error) {
        if (statusOf(error) !== 412) throw failure(location, error, statusOf(error));
      }
    },
    async get(key) {
      try {
        // The bytes are part of the request: a connection may break in their middle.
        return await ask(async () => {
          const { Body } = await client.getObject({ Bucket: bucket, Key: `${start}${key}` });
          return await Body?.transformToByteArray();
        });
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw failure(location, error, statusOf(error));
      }
    },
    async *list(begin) {
      let token: string | undefined;
      do {
        const page = {
          Bucket: bucket,
          Prefix: `${start}${begin}`,
          ...(token !== undefined && { ContinuationToken: token }),
        };
        const { Contents = [], NextContinuationToken } = await ask(() => client.listObjectsV2(page));
        for (const { Key } of Contents) if (Key !== undefined) yield Key.slice(start.length);
        token = NextContinuationToken;
      } while (token !== undefined);
    },
    async delete(key) {
      try {
        await ask(() => client.deleteObject({ Bucket: bucket, Key: `${start}${key}` }));
      } catch (error) {
        if (statusOf(error) !== 404) throw failure(location, error, statusOf(error));
      }
    },
  };
}

/** The status of a server's answer in an error of the SDK; undefined where there was none. */
function statusOf(error: unknown): number | undefined {
  const metadata: unknown = error instanceof Error && "$metadata" in error ? error.$metadata : undefined;
  const status: unknown =
    typeof metadata === "object" && metadata !== null ? Reflect.get(metadata, "httpStatusCode") : undefined;
  return typeof status === "number" && status >= 300 ? status : undefined;
}

function failure(location: string, error: unknown, status: number | undefined): WindrowError {
  if (error instanceof WindrowError) return error;
  const reason = error instanceof Error && error.message !== "" ? `${error.name}: ${error.message}` : String(error);
  const help = status === 403 || status === 401 ? "Check the credentials and the bucket's policy." : "Try again.";
  const message = `The archive ${location} cannot be asked: ${reason}. ${help}`;
  return new WindrowError(
    "store-unavailable",
    message,
    { location, reason, ...(status !== undefined && { status }) },
    {
      cause: error,
    },
  );
}
