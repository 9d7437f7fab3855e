/** Linux's tables of TCP sockets: the user at the other end of a connection on this machine. */
import { createReadStream } from "node:fs";
import { isIPv4 } from "node:net";
import { endianness } from "node:os";
import { FrameReader } from "./lines.js";

export interface Endpoint {
  address: string;
  port: number;
}

/** About 200,000 sockets. The rest of a longer table is not read. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * The id of the user whose socket has the local end `local` and the remote end `remote`. Undefined if the tables hold no such socket or
 * cannot be read, or if its process has closed it: the kernel may then show root as its user.
 */
export async function socketOwner(local: Endpoint, remote: Endpoint): Promise<number | undefined> {
  for (const table of ["tcp", "tcp6"] as const) {
    const [ours, theirs] = [written(local, table), written(remote, table)];
    if (ours === undefined || theirs === undefined) continue;
    const uid = await userIn(`/proc/net/${table}`, ours, theirs);
    if (uid !== undefined) return uid;
  }
  return undefined;
}

async function userIn(path: string, local: string, remote: string): Promise<number | undefined> {
  const lines = new FrameReader("text");
  try {
    for await (const chunk of createReadStream(path, { end: MOST_BYTES })) {
      for (const frame of Buffer.isBuffer(chunk) ? lines.push(chunk) : []) {
        const uid = "rec" in frame ? userOf(String(frame.rec), local, remote) : undefined;
        if (uid !== undefined) return uid;
      }
    }
  } catch {
    // A table that is hidden from us has no entries.
  }
  return undefined;
}

/** A line is `sl local remote st queues timer retransmits uid timeout inode …`; a socket closed by its process has inode 0. */
function userOf(row: string, local: string, remote: string): number | undefined {
  if (!row.includes(` ${local} ${remote} `)) return undefined;
  const [, , , , , , , uid, , inode] = row.trim().split(/\s+/);
  return uid === undefined || inode === undefined || inode === "0" ? undefined : Number(uid);
}

/** The address as the table writes it. IPv4 is in both tables; of IPv6 only loopback is needed. */
function written({ address, port }: Endpoint, table: "tcp" | "tcp6"): string | undefined {
  const plain = address.replace(/^::ffff:/i, "");
  const words = isIPv4(plain) ? ofIPv4(plain, table) : table === "tcp6" && plain === "::1" ? [0, 0, 0, 1] : undefined;
  return words && `${words.map(hexWord).join("")}:${hex(port, 4)}`;
}

function ofIPv4(address: string, table: "tcp" | "tcp6"): number[] {
  const word = address.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);
  return table === "tcp" ? [word] : [0, 0, 0xffff, word];
}

/** In the byte order of the machine. */
function hexWord(word: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(word);
  return hex(endianness() === "LE" ? bytes.readUInt32LE() : word, 8);
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}
