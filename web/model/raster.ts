/** The picture of a session: calls from left to right, messages from top to bottom, each point the message's fate at the call. */
import type { CallRow, EpochRow } from "../../src/viewer/viewer.ts";
import { fateAt, fateOrder } from "./fates.ts";

/** A raster of places in {@link fateOrder}, row by row. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly fates: Uint8Array;
}

/** The fates of messages at calls, one point for each, or for a sample of them where there are more than points. */
export function rasterOf(
  calls: readonly CallRow[],
  epochs: readonly EpochRow[],
  messages: number,
  mostWidth: number,
  mostHeight: number,
): Raster {
  const width = Math.max(1, Math.min(calls.length, Math.floor(mostWidth)));
  const height = Math.max(1, Math.min(messages, Math.floor(mostHeight)));
  const fates = new Uint8Array(width * height).fill(fateOrder.indexOf("later"));
  const byNumber = new Map(epochs.map((epoch) => [epoch.epoch, epoch]));
  for (let x = 0; x < width && calls.length > 0; x++) {
    const call = calls[Math.floor(((x + 0.5) * calls.length) / width)]!;
    const epoch = call.epoch === null ? undefined : byNumber.get(call.epoch);
    for (let y = 0; y < height; y++) {
      const seq = Math.floor(((y + 0.5) * messages) / height) + 1;
      if (seq > call.lastSeq) break;
      const isOld = epoch !== undefined && seq <= epoch.opened;
      fates[y * width + x] = isOld ? fateOrder.indexOf(fateAt(epoch.fates, seq, call.lastSeq)) : 0;
    }
  }
  return { width, height, fates };
}
