import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { anthropicWire } from "../wires/anthropic.js";
import { fitImage } from "./fit-image.js";
import { imageSize } from "./image-size.js";
import { scalePng } from "./scale-png.js";

/** A picture of random points, which hardly packs: RGB, each row unfiltered. */
function png(width: number, height: number, noise = true): Buffer {
  const raw = Buffer.alloc((width * 3 + 1) * height);
  if (noise)
    for (let at = 0, seed = 1; at < raw.length; at++) raw[at] = at % (width * 3 + 1) === 0 ? 0 : (seed = (seed * 16807) % 2147483647) & 255;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const chunk = (type: string, body: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    return Buffer.concat([length, Buffer.from(type), body, Buffer.alloc(4)]);
  };
  const parts = [chunk("IHDR", head), chunk("IDAT", deflateSync(raw)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...parts]);
}

const image = (bytes: Buffer, mime = "image/png") => ({ type: "image" as const, mime, data: bytes.toString("base64") });

describe("a picture for Claude", () => {
  test("goes out as it is where it fits", () => {
    const small = image(png(20, 10));
    expect(fitImage(small, anthropicWire)).toEqual({ mediaType: "image/png", data: small.data });
  });

  test.each([
    ["too many bytes", png(1500, 1500)],
    ["too many pixels a side", png(8100, 20, false)],
  ])("is scaled down where it has %s", (_, bytes) => {
    const fitted = fitImage(image(bytes), anthropicWire);
    const data = typeof fitted === "string" ? "" : fitted.data;
    expect(data.length).toBeGreaterThan(0);
    expect(data.length).toBeLessThanOrEqual(5 * 2 ** 20);
    const { width = 0, height = 0 } = imageSize(Buffer.from(data, "base64")) ?? {};
    expect(Math.max(width, height)).toBeLessThanOrEqual(8000);
    expect(width).toBeGreaterThan(0);
  });

  test("a picture that cannot be scaled is replaced by a sentence", () => {
    const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0x23, 0x28, 0x1f, 0x40, 3]), Buffer.alloc(20)]);
    expect(fitImage(image(jpeg, "image/jpeg"), anthropicWire)).toBe(
      "(An image of 8000 x 9000 pixels and 0.0 MiB was left out: the model takes 5.0 MiB of base64 and 8000 pixels a side. Make it smaller, and show it again)",
    );
  });
});

test("a scaled picture keeps its colours, whatever the filters of its rows", () => {
  const plain = scalePng(png(64, 64, false), 0.5);
  expect(imageSize(plain ?? Buffer.alloc(0))).toEqual({ width: 32, height: 32 });
  const twice = scalePng(scalePng(png(64, 64), 0.999999) ?? Buffer.alloc(0), 0.5);
  const once = scalePng(png(64, 64), 0.5);
  expect(imageSize(once ?? Buffer.alloc(0))).toEqual({ width: 32, height: 32 });
  expect(twice).toBeDefined();
});

test.each([
  ["no PNG", Buffer.from("GIF89a")],
  ["a head that claims more than is unpacked", png(1, 1).fill(0xff, 16, 20)],
  ["rows that are cut off", Buffer.concat([png(10, 10).subarray(0, 60)])],
])("%s is not scaled", (_, bytes) => {
  expect(scalePng(bytes, 0.5)).toBeUndefined();
});

test.each<[string, Buffer, unknown]>([
  ["a GIF", Buffer.from("GIF89a\x0a\x00\x14\x00", "latin1"), { width: 10, height: 20 }],
  ["a WebP of the plain kind", webp("VP8 ", Buffer.from([0, 0, 0, 0, 0, 0, 10, 0, 20, 0])), { width: 10, height: 20 }],
  ["a lossless WebP", webp("VP8L", Buffer.from([0x2f, 9, 0xc0, 4, 0])), { width: 10, height: 20 }],
  ["an extended WebP", webp("VP8X", Buffer.from([0, 0, 0, 0, 9, 0, 0, 19, 0, 0])), { width: 10, height: 20 }],
  ["nothing known", Buffer.from("hello, world"), undefined],
  ["a cut JPEG", Buffer.from([0xff, 0xd8, 0xff]), undefined],
])("the size of %s", (_, bytes, size) => {
  expect(imageSize(bytes)).toEqual(size);
});

function webp(kind: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBP"), Buffer.from(kind), Buffer.alloc(4), body]);
}
