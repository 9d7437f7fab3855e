/** The size of a picture in pixels, from the head of its file: PNG, JPEG, GIF and WebP. */

export interface ImageSize {
  width: number;
  height: number;
}

/** Undefined for other types, and for a file cut off before the size. */
export function imageSize(bytes: Buffer): ImageSize | undefined {
  try {
    if (bytes.toString("latin1", 1, 4) === "PNG") return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    if (bytes.toString("latin1", 0, 3) === "GIF") return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    if (bytes.readUInt16BE(0) === JPEG) return jpegSize(bytes);
    if (bytes.toString("latin1", 8, 12) === "WEBP") return webpSize(bytes);
  } catch {
    // The file is too short.
  }
  return undefined;
}

const JPEG = 0xffd8;

/** Segments follow one another; a frame header (C0 to CF, except tables and such) has the size. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  for (let at = 2; at < bytes.length;) {
    const marker = bytes.readUInt8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}
