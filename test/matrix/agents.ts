/** How the built command serves each dialect as a driven agent: its arguments, without those that the dialect adds itself. */

/** Everything asks, Read included, on every wire alike. */
const REHEARSAL = ["--provider", "rehearsal", "--approve-tools", "TodoWrite"];

export const agents: Readonly<Record<string, readonly string[]>> = {
  native: ["serve", "--dialect", "native", ...REHEARSAL],
  aionrs: REHEARSAL,
};
