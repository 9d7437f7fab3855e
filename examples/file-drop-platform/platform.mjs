// A platform of your own: a folder. A file CHAT.txt put into `in` is a message, answers are appended to `out/CHAT.txt`.
// Run it from the repository's root: node dist/parley.js bridge serve examples/file-drop-platform/bridge.yaml
import { appendFile, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join, parse, resolve } from "node:path";

export default async function fileDrop(options, context) {
  const root = resolve(context.folder, options.folder);
  const [incoming, outgoing] = [join(root, "in"), join(root, "out")];
  for (const folder of [incoming, outgoing]) await mkdir(folder, { recursive: true });
  const ended = new AbortController();
  let looking = Promise.resolve();

  async function look(inbox) {
    for (const name of await readdir(incoming)) {
      const file = join(incoming, name);
      if (parse(name).ext !== ".txt") continue;
      const text = await readFile(file, "utf8");
      const { mtimeMs } = await stat(file);
      // The key makes it safe to come here twice: after a crash between these two lines the file is still there.
      const verdict = await inbox.accept({ chat: parse(name).name, from: "folder", text, key: `${name} ${mtimeMs}` });
      // What the bridge has no time for any more waits here until it is up again.
      if (!verdict.accepted && verdict.why === "stopping") return;
      await rm(file);
    }
  }

  return {
    limits: { text: 10_000 },
    async start(inbox) {
      const again = () => {
        looking = look(inbox)
          .catch((error) => inbox.log(`the folder cannot be read: ${error.message}`))
          .finally(() => {
            if (!ended.signal.aborted) setTimeout(again, 100);
          });
      };
      again();
    },
    async send({ chat, text, repeated }) {
      await appendFile(join(outgoing, `${chat}.txt`), `${repeated ? "(again) " : ""}${text}\n`);
      return { status: "sent" };
    },
    async pause() {
      ended.abort();
      await looking;
    },
    async stop() {},
  };
}
