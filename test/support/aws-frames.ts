/** AWS's event stream, written as its specification has it: lengths, checksums, headers of text, a payload. */
import { crc32 } from "node:zlib";

export const FRAMES_TYPE = "application/vnd.amazon.eventstream";

export function awsFrame(headers: Record<string, string>, payload: string | Buffer): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, Buffer.from(value))));
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(8 + 4 + head.length + body.length + 4, 0);
  prelude.writeUInt32BE(head.length, 4);
  const message = Buffer.concat([prelude, sum(prelude), head, body]);
  return Buffer.concat([message, sum(message)]);
}

export function awsEvent(type: string, data: unknown): Buffer {
  return awsFrame({ ":event-type": type, ":content-type": "application/json", ":message-type": "event" }, JSON.stringify(data));
}

export function awsException(type: string, message: string): Buffer {
  const headers = { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" };
  return awsFrame(headers, JSON.stringify({ message }));
}

function header(name: string, value: Buffer): Buffer {
  const type = Buffer.from([7, value.length >> 8, value.length & 255]);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), type, value]);
}

function sum(bytes: Buffer): Buffer {
  const written = Buffer.alloc(4);
  written.writeUInt32BE(crc32(bytes));
  return written;
}
