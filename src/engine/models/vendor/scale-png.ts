/** Scales a PNG down with zlib alone: for the common kinds, eight bits a channel and not interlaced. */
import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Channels by PNG's colour type: grey, RGB, grey with alpha, RGB with alpha. A palette is not scaled. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 };
/** A larger picture is not unpacked: a small file may claim any size. */
const MOST_PIXELS = 40_000_000;

interface Head {
  width: number;
  height: number;
  colour: number;
  channels: number;
}

/** The picture at `factor` (below 1) of its sides; undefined for other kinds. */
export function scalePng(bytes: Buffer, factor: number): Buffer | undefined {
  try {
    const chunks = chunksOf(bytes);
    const head = headOf(chunks);
    if (head === undefined || head.width * head.height > MOST_PIXELS) return undefined;
    const stride = head.width * head.channels;
    const data = Buffer.concat(chunks.flatMap(({ type, body }) => (type === "IDAT" ? [body] : [])));
    const rows = unfiltered(inflateSync(data, { maxOutputLength: (stride + 1) * head.height }), stride, head);
    return encoded(averaged(rows, head, factor), head);
  } catch {
    return undefined;
  }
}

function chunksOf(bytes: Buffer): { type: string; body: Buffer }[] {
  const chunks: { type: string; body: Buffer }[] = [];
  for (let at = SIGNATURE.length; at + 12 <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    chunks.push({ type: bytes.toString("latin1", at + 4, at + 8), body: bytes.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return chunks;
}

function headOf(chunks: readonly { type: string; body: Buffer }[]): Head | undefined {
  const body = chunks[0]?.type === "IHDR" ? chunks[0].body : undefined;
  if (body === undefined || body.readUInt8(8) !== 8 || body.readUInt8(12) !== 0) return undefined;
  const colour = body.readUInt8(9);
  const channels = CHANNELS[colour];
  return channels === undefined ? undefined : { width: body.readUInt32BE(0), height: body.readUInt32BE(4), colour, channels };
}

/** The first byte of each row tells how it differs from its neighbours. */
function unfiltered(raw: Buffer, stride: number, { height, channels }: Head): Buffer {
  const rows = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw.readUInt8(y * (stride + 1));
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < channels ? 0 : (rows[at - channels] ?? 0);
      const up = y === 0 ? 0 : (rows[at - stride] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (rows[at - stride - channels] ?? 0);
      rows[at] = (raw[y * (stride + 1) + 1 + x] ?? 0) + predicted(filter, left, up, corner);
    }
  }
  return rows;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4: {
      const guess = left + up - corner;
      const [byLeft, byUp, byCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
      if (byLeft <= byUp && byLeft <= byCorner) return left;
      return byUp <= byCorner ? up : corner;
    }
    default:
      return 0;
  }
}

interface Scaled {
  width: number;
  height: number;
  pixels: Buffer;
}

/** Each new pixel is the mean of the old pixels in its place. */
function averaged(rows: Buffer, { width, height, channels }: Head, factor: number): Scaled {
  const scaled = { width: Math.max(1, Math.floor(width * factor)), height: Math.max(1, Math.floor(height * factor)) };
  const pixels = Buffer.alloc(scaled.width * scaled.height * channels);
  for (let y = 0; y < scaled.height; y++) {
    const [top, bottom] = range(y, height, scaled.height);
    for (let x = 0; x < scaled.width; x++) {
      const [from, to] = range(x, width, scaled.width);
      for (let channel = 0; channel < channels; channel++) {
        let sum = 0;
        for (let row = top; row < bottom; row++)
          for (let column = from; column < to; column++) sum += rows[(row * width + column) * channels + channel] ?? 0;
        pixels[(y * scaled.width + x) * channels + channel] = Math.round(sum / ((bottom - top) * (to - from)));
      }
    }
  }
  return { ...scaled, pixels };
}

function range(at: number, old: number, scaled: number): [number, number] {
  const from = Math.floor((at * old) / scaled);
  return [from, Math.max(from + 1, Math.floor(((at + 1) * old) / scaled))];
}

function encoded({ width, height, pixels }: Scaled, { colour, channels }: Head): Buffer {
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, colour, 0, 0, 0]);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  const stride = width * channels;
  const raw = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    const row = y * (stride + 1);
    // The differences to the left neighbour compress far better than the values.
    raw[row] = 1;
    for (let x = 0; x < stride; x++)
      raw[row + 1 + x] = (pixels[y * stride + x] ?? 0) - (x < channels ? 0 : (pixels[y * stride + x - channels] ?? 0));
  }
  return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("IDAT", deflateSync(raw)), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), body]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(body.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
