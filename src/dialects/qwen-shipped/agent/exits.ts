/** Qwen Code's exit codes of a process that could not start. */
import type { Fault } from "../../../core/errors.js";

const AUTH = 41;
const SANDBOX = 44;
const CONFIG = 52;
const USAGE = 42;

export function exitOf(fault: Fault | undefined): { code: number; message: string } {
  const { code, param, message } = fault ?? { code: "internal", param: undefined, message: "The session could not be opened" };
  if (param === "apiKey") return { code: AUTH, message };
  if (code === "sandbox") return { code: SANDBOX, message };
  if (code === "usage") return { code: USAGE, message };
  return { code: code === "config" || code === "version" || code === "unsupported" ? CONFIG : 1, message };
}
