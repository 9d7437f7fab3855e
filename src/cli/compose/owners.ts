/** Owners: each named token of a server has its conversations in a folder of its own, so that nobody else's store reaches them. */
import { join } from "node:path";

/** A name is a folder's name, on every system. */
export function isOwnerName(name: string): boolean {
  return /^[\w-]{1,64}$/.test(name);
}

/** Holds sessions and saved chats; those without an owner are in PARLEY_HOME itself. Case does not tell owners apart. */
export function ownerHome(home: string, owner: string | undefined): string {
  return owner === undefined ? home : join(home, "owners", owner.toLowerCase());
}
