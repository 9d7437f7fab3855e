/** The clock, the ids and the folder that a link gives its side. */
import { mintId } from "../core/ids.js";
import type { SideEnv } from "../dialects/dialect.js";

export const sideEnv: SideEnv = {
  stamp: () => ({ id: mintId(), at: Date.now() }),
  cwd: () => process.cwd(),
};
