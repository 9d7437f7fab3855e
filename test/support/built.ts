/** Tests from the outside need the built command: builds it when a source is newer than the build. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export default function build(): void {
  const built = "dist/parley.js";
  const newest = Math.max(...readdirSync("src", { recursive: true }).map((file) => statSync(join("src", String(file))).mtimeMs));
  if (!existsSync(built) || statSync(built).mtimeMs < newest) execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
}
