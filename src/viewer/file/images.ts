/** The images that a single file holds: those of a size that a file can be sent with. */
import { isWindrowError } from "../../errors.ts";
import type { Part, ResultContent } from "../../message/message.ts";
import type { ViewerBlob, ViewerMessage, ViewerSource } from "../viewer.ts";
import type { FileImage } from "./data.ts";

/** Most bytes of one image, and of all in a file. */
export const mostImageBytes = { one: 512 * 1_024, all: 8 * 1_024 * 1_024 } as const;

/** The types that a page draws. */
const drawn = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Gathers the images of messages, in the order of the log, as long as there is room. */
export class FileImages {
  readonly images: Record<string, FileImage> = {};
  #bytes = 0;

  /** Takes the images of a message, as they are stored. */
  async take(source: ViewerSource, id: string, { seq, parts }: Pick<ViewerMessage, "seq" | "parts">): Promise<void> {
    for (const place of placesIn(parts)) {
      if (!source.blob || this.#bytes >= mostImageBytes.all) return;
      const blob = await blobOf(source, id, seq, place);
      if (!blob) continue;
      const { mediaType, data } = blob;
      if (data.length > mostImageBytes.one || this.#bytes + data.length > mostImageBytes.all) continue;
      this.#bytes += data.length;
      this.images[`${seq}/${place}`] = { mediaType, data: Buffer.from(data).toString("base64") };
    }
  }
}

/** An image's bytes; undefined where its address only looks like a reference, or cannot be decoded. */
async function blobOf(source: ViewerSource, id: string, seq: number, place: string): Promise<ViewerBlob | undefined> {
  try {
    return await source.blob?.(id, seq, place);
  } catch (error) {
    if (isWindrowError(error, "not-found")) return undefined;
    throw error;
  }
}

/** The places of images that a source holds the bytes of. */
function placesIn(parts: readonly (Part | ResultContent)[]): readonly string[] {
  return parts.flatMap((part): readonly string[] => {
    if (part.type === "tool-result") return typeof part.content === "string" ? [] : placesIn(part.content);
    if (part.type !== "image" || !drawn.includes(part.mediaType)) return [];
    const [, place] = /^blob:\d+\/(.+)$/.exec(part.url ?? "") ?? [];
    return place === undefined ? [] : [place];
  });
}
