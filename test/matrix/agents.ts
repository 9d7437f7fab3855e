/** How the built command serves each dialect as a driven agent: its arguments, without those that the dialect adds itself. */

/** Everything asks, Read included, on every wire alike. */
const REHEARSAL = ["--provider", "rehearsal", "--approve-tools", "TodoWrite"];

export const agents: Readonly<Record<string, readonly string[]>> = {
  native: ["serve", "--dialect", "native", ...REHEARSAL],
  aionrs: REHEARSAL,
  ante: ["serve", ...REHEARSAL],
  "aionrs@0.2": ["--dialect", "aionrs@0.2", ...REHEARSAL],
  wayland: ["--dialect", "wayland", ...REHEARSAL],
};

/** What a relay must be told to drive it: sessions of some wires cannot be opened without a model. */
const NAMED: Readonly<Record<string, readonly string[]>> = { ante: ["--provider", "rehearsal", "--model", "rehearsal"] };

export function driving(drive: string): readonly string[] {
  return NAMED[drive] ?? [];
}

/** Whose wires carry no reason of a denial. */
export const withoutReasons: ReadonlySet<string> = new Set(["ante"]);
