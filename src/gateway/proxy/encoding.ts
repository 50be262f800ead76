/** Compressed bodies, decoded for reading alone: what is sent on stays as it came. */
import * as zlib from "node:zlib";
import { promisify } from "node:util";
import type { Transform } from "node:stream";

/** The most bytes that a body may have when it is decoded. */
export const mostDecoded = 64 * 1_024 * 1_024;

type Decode = (body: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

interface Coding {
  readonly whole: Decode;
  readonly stream: () => Transform;
}

/** The codings that this Node can read; zstd from 22.15 on. */
const codings: ReadonlyMap<string, Coding> = new Map<string, Coding>([
  ["gzip", { whole: promisify(zlib.gunzip) as Decode, stream: () => zlib.createGunzip() }],
  ["x-gzip", { whole: promisify(zlib.gunzip) as Decode, stream: () => zlib.createGunzip() }],
  ["deflate", { whole: promisify(zlib.inflate) as Decode, stream: () => zlib.createInflate() }],
  ["br", { whole: promisify(zlib.brotliDecompress) as Decode, stream: () => zlib.createBrotliDecompress() }],
  ...zstandard(),
]);

/**
 * A body as it was before its coding.
 *
 * @param coding - the value of `content-encoding`
 * @returns undefined for a coding that cannot be read, a broken body, and one that is too large
 */
export async function decoded(body: Buffer, coding: string | undefined): Promise<Buffer | undefined> {
  const name = nameOf(coding);
  if (name === "identity") return body;
  try {
    return await codings.get(name)?.whole(body, { maxOutputLength: mostDecoded });
  } catch {
    return undefined;
  }
}

/** A decoder for a stream: `none` where nothing is to decode, undefined for a coding that cannot be read. */
export function decoderFor(coding: string | undefined): Transform | "none" | undefined {
  const name = nameOf(coding);
  return name === "identity" ? "none" : codings.get(name)?.stream();
}

function nameOf(coding: string | undefined): string {
  const name = coding?.trim().toLowerCase() ?? "";
  return name === "" ? "identity" : name;
}

function zstandard(): readonly (readonly [string, Coding])[] {
  const { zstdDecompress, createZstdDecompress } = zlib as unknown as {
    readonly zstdDecompress?: typeof zlib.gunzip;
    readonly createZstdDecompress?: () => Transform;
  };
  if (!zstdDecompress || !createZstdDecompress) return [];
  return [["zstd", { whole: promisify(zstdDecompress) as Decode, stream: () => createZstdDecompress() }]];
}
