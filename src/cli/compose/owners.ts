/** Owners: each named token of a server keeps its conversations in a folder of its own, out of reach of the others. */
import { join } from "node:path";

/** The owner's name is a folder name on every system. */
export function isOwnerName(name: string): boolean {
  return /^[\w-]{1,64}$/.test(name);
}

/** The folder of an owner's sessions and saved chats; PARLEY_HOME without an owner. Names that differ only in case share a folder. */
export function ownerHome(home: string, owner: string | undefined): string {
  return owner === undefined ? home : join(home, "owners", owner.toLowerCase());
}
