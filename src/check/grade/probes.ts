/** The seam between the requirements of a dialect and the code that plays them. */
import type { Scene } from "./scene.js";

/** How the requirements of one dialect are seen from outside. */
export interface Probes {
  /** Resolves once the agent is there; throws what keeps it from its work. */
  meet(scene: Scene): Promise<void>;
  /** By the requirement's id. A requirement without an entry is not checked yet. */
  plays: Readonly<Record<string, (scene: Scene) => Promise<void>>>;
  /** The requirement that a malformed line breaks, wherever it was heard. */
  charge(rec: unknown): string;
}
