/** Another process that makes a folder, or a file, a link to elsewhere and back, again and again, until the test ends. */
import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";

/** Resolves once it has done so for the first times. */
export async function swapping(path: string, target: string): Promise<void> {
  const child = spawn(process.execPath, ["-e", SWAPPER, path, target], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    void ended.then(() => reject(new Error("the swapper ended")));
  });
}

/** A writer may make the folder anew while it is away; then the new one goes. */
const SWAPPER = `
const { renameSync, rmSync, symlinkSync, unlinkSync } = require("node:fs");
const [path, target] = process.argv.slice(1);
const rest = () => { const until = performance.now() + 0.05; while (performance.now() < until); };
let open = true;
process.stdin.resume().on("end", () => { open = false; });
function swap() {
  renameSync(path, path + ".away");
  try { symlinkSync(target, path); rest(); unlinkSync(path); } catch {}
  for (;;) try { return renameSync(path + ".away", path); } catch { try { rmSync(path, { recursive: true, force: true }); } catch {} }
}
function go() {
  for (let times = 0; times < 20; times++) { swap(); rest(); }
  if (open) setImmediate(go);
}
go();
process.stdout.write("swapping");
`;
