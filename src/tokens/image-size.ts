/** The dimensions of an image, read from the first bytes of its base64. */

/** Width and height in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Base64 characters looked at, a multiple of 4: 64 KiB of the file, enough for all but the largest EXIF blocks. */
const headLength = 87_384;

/**
 * The dimensions of a PNG, JPEG, GIF or WebP.
 *
 * @param data - base64, or a `data:` URI; only its beginning is decoded
 * @returns `undefined` for another format, for broken base64, and where the dimensions do not stand in the beginning
 */
export function imageSize(data: string): ImageSize | undefined {
  const start = data.startsWith("data:") ? data.indexOf(",") + 1 : 0;
  let bytes: string;
  try {
    bytes = atob(data.slice(start, start + headLength));
  } catch {
    return undefined;
  }
  const size = pngSize(bytes) ?? gifSize(bytes) ?? webpSize(bytes) ?? jpegSize(bytes);
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

function pngSize(bytes: string): ImageSize | undefined {
  if (!bytes.startsWith("\x89PNG\r\n\x1a\n") || bytes.length < 24) return undefined;
  return { width: bigEndian(bytes, 16, 4), height: bigEndian(bytes, 20, 4) };
}

function gifSize(bytes: string): ImageSize | undefined {
  if (!bytes.startsWith("GIF8") || bytes.length < 10) return undefined;
  return { width: littleEndian(bytes, 6, 2), height: littleEndian(bytes, 8, 2) };
}

function webpSize(bytes: string): ImageSize | undefined {
  if (!bytes.startsWith("RIFF") || bytes.slice(8, 12) !== "WEBP" || bytes.length < 30) return undefined;
  switch (bytes.slice(12, 16)) {
    case "VP8 ":
      return { width: littleEndian(bytes, 26, 2) & 0x3fff, height: littleEndian(bytes, 28, 2) & 0x3fff };
    case "VP8L": {
      const packed = littleEndian(bytes, 21, 4);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: littleEndian(bytes, 24, 3) + 1, height: littleEndian(bytes, 27, 3) + 1 };
    default:
      return undefined;
  }
}

/** Walks the segments of a JPEG to its frame header (SOF0 to SOF15, without DHT, JPG and DAC). */
function jpegSize(bytes: string): ImageSize | undefined {
  if (!bytes.startsWith("\xff\xd8")) return undefined;
  let at = 2;
  while (at + 9 <= bytes.length && bytes.charCodeAt(at) === 0xff) {
    const marker = bytes.charCodeAt(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { width: bigEndian(bytes, at + 7, 2), height: bigEndian(bytes, at + 5, 2) };
    }
    // A marker may be padded with further 0xff bytes.
    at += marker === 0xff ? 1 : 2 + bigEndian(bytes, at + 2, 2);
  }
  return undefined;
}

function bigEndian(bytes: string, at: number, length: number): number {
  let value = 0;
  for (let index = 0; index < length; index++) value = value * 256 + bytes.charCodeAt(at + index);
  return value;
}

function littleEndian(bytes: string, at: number, length: number): number {
  let value = 0;
  for (let index = length - 1; index >= 0; index--) value = value * 256 + bytes.charCodeAt(at + index);
  return value;
}
