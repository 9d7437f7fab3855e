/** The flag `--wire`. */
import type { Wire } from "../../bridge/index.js";
import { WIRES } from "../../bridge/protocol.js";
import { text, usage, type Parsed } from "../command-line/flags.js";

export function wireOf(parsed: Parsed): Wire | undefined {
  const asked = text(parsed, "wire");
  const wire = WIRES.find((known) => known === asked);
  if (asked !== undefined && wire === undefined) throw usage(`--wire is ${WIRES.join(", ")}, not '${asked}'`);
  return wire;
}
