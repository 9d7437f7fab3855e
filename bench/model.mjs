/** The scripted model as the runner sees it: started in a process of its own, asked for its timings between two measurements. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export async function startModel(env) {
  const script = fileURLToPath(new URL("model-server.mjs", import.meta.url));
  const child = spawn(process.execPath, [script], { env, stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(Number(data.toString())));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`The model server left at once with code ${code}`)));
  });
  const root = `http://127.0.0.1:${port}`;
  return {
    baseUrl: `${root}/v1`,
    /** `{arrived, first, last}` of each request since the last time, in milliseconds of `now()`. */
    async timings() {
      return (await fetch(`${root}/timings`)).json();
    },
    end: () => child.kill("SIGKILL"),
  };
}

/** The time that the model server itself took. */
export function serverTime(timings) {
  return timings.reduce((sum, { arrived, last }) => sum + last - arrived, 0);
}
