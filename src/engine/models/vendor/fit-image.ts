/** Fits a picture to a wire: to a type and a size that its vendor takes, scaled down if possible. */
import type { PartOf } from "../../../core/content.js";
import type { Wire } from "../wires/wire.js";
import { imageSize } from "./image-size.js";
import { scalePng } from "./scale-png.js";

export interface FittedImage {
  mediaType: string;
  /** In base64. */
  data: string;
}

/** The four types that nearly every vendor takes. Another one would be refused, and every later request of the session with it. */
const TYPES: Readonly<Record<string, string>> = {
  "image/png": "image/png",
  "image/jpeg": "image/jpeg",
  "image/jpg": "image/jpeg",
  "image/gif": "image/gif",
  "image/webp": "image/webp",
};

/** Returns a sentence in its place if it cannot be made to fit. */
export function fitImage(part: PartOf<"image">, { imageTypes = Object.values(TYPES), imageLimits }: Wire): FittedImage | string {
  const mediaType = TYPES[part.mime.toLowerCase()];
  if (mediaType === undefined || !imageTypes.includes(mediaType)) return wrongType(part, [...new Set(imageTypes)]);
  if (imageLimits === undefined) return { mediaType, data: part.data };
  const { chars, pixels } = imageLimits;
  const bytes = Buffer.from(part.data, "base64");
  const size = imageSize(bytes);
  const longest = size === undefined ? 0 : Math.max(size.width, size.height);
  if (part.data.length <= chars && longest <= pixels) return { mediaType, data: part.data };
  const scaled = mediaType === "image/png" ? scaledDown(bytes, part.data.length, longest, imageLimits) : undefined;
  return scaled === undefined ? tooLarge(part.data.length, size, imageLimits) : { mediaType, data: scaled };
}

type Limits = NonNullable<Wire["imageLimits"]>;

/** The most steps of scaling down until its bytes fit. */
const TRIES = 4;

function scaledDown(bytes: Buffer, length: number, longest: number, { chars, pixels }: Limits): string | undefined {
  let factor = Math.min(1, pixels / longest, Math.sqrt(chars / length));
  for (let tries = 0; tries < TRIES; tries++, factor *= 0.7) {
    const data = scalePng(bytes, factor)?.toString("base64");
    if (data === undefined || data.length <= chars) return data;
  }
  return undefined;
}

function wrongType({ mime }: PartOf<"image">, types: readonly string[]): string {
  return `(An image of type ${mime} was left out: the model takes ${types.map((type) => type.replace("image/", "")).join(", ")})`;
}

function tooLarge(length: number, size: { width: number; height: number } | undefined, { chars, pixels }: Limits): string {
  const of = size === undefined ? "" : ` of ${size.width} x ${size.height} pixels`;
  const is = `An image${of} and ${mib(length)} MiB was left out`;
  return `(${is}: the model takes ${mib(chars)} MiB of base64 and ${pixels} pixels a side. Make it smaller, and show it again)`;
}

function mib(length: number): string {
  return (length / 2 ** 20).toFixed(1);
}
