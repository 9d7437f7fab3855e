/** Ante as a program. `ante serve` is its protocol mode, and `parley serve` speaks it unless another dialect is named. */
import type { Program } from "../kit/program.js";

export const program: Program = {
  name: "ante",
  shortFlags: { "-r": "--resume" },
  flags: [{ name: "allowed-tools", value: "A,B", means: (list) => ["--tools", list] }],
  servesByDefault: true,
  opensOnWire: true,
  hostWords: { command: "serve", switches: ["--stdio"] },
  servers: {
    variable: "ANTE_HOME",
    folder: ".ante",
    file: "settings.json",
    read: async (path, text) => (await import("./wire/servers.js")).readServers(path, text),
  },
  drive: { command: ["ante"] },
};
