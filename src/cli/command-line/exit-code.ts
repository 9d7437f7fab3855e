/** Exit codes for people and scripts. */
import type { Fault } from "../../core/errors.js";

type Exits = Readonly<Record<string, number>>;

const EXITS: Exits = { usage: 2, sandbox: 44 };

/** The code of the program that the command stands for, by the code of the fault or by its setting. */
export function ownExit({ code, param = "" }: Fault, own: Exits = {}): number | undefined {
  return own[param] ?? own[code];
}

export function exitCode(fault: Fault, own?: Exits): number {
  return ownExit(fault, own) ?? EXITS[fault.code] ?? 1;
}
