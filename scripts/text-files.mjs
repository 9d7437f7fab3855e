// Text files as modules: the default export is the text. Both the build and the tests load them so.
import { readFileSync } from "node:fs";

export const textFiles = {
  name: "text-files",
  // Before Vite takes a text file for an asset.
  enforce: "pre",
  load: (id) =>
    id.endsWith(".txt") ? { code: `export default ${JSON.stringify(readFileSync(id, "utf8"))};`, moduleType: "js" } : undefined,
};
