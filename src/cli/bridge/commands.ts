/** The commands that begin with `bridge`, as data. */
import type { Command } from "../command-line/commands.js";
import { given, usage, type Flag } from "../command-line/flags.js";
import { workingFolder } from "../compose/working-folder.js";

const JSON_OUTPUT: Flag = { name: "json", help: "for programs: one JSON object a line" };
const WIRE: Flag = { name: "wire", value: "W", help: "the revision of AgentProc: 0.1, 0.2, 0.3, 0.4 or auto (default: the profile's)" };

export const BRIDGE_COMMANDS: readonly Command[] = [
  {
    name: "bridge",
    usage: "parley bridge run | check | profiles | serve",
    summary: "Runs agents by AgentProc profiles: any command that answers a message.",
    positionals: 1,
    flags: [],
    async run({ positionals: [word] }) {
      throw usage(`${word === undefined ? "What?" : `There is no 'bridge ${word}'.`} parley bridge run, check, profiles or serve`);
    },
  },
  {
    name: "bridge run",
    usage: "parley bridge run PROFILE --message TEXT [flags]",
    summary: "Runs one turn of the agent that PROFILE describes: its reply goes to stdout, its exit code is ours.",
    details:
      "PROFILE is a YAML file, or the name of a ready-made one (parley bridge profiles). Turns with the same --session-name are one conversation.\n" +
      "With --json: lines partial, permission_request (answered by a line permission_response on stdin), error, and last result.",
    positionals: 1,
    flags: [
      { name: "message", value: "TEXT", help: "the message; - reads it from stdin" },
      { name: "session-name", value: "NAME", help: "the conversation (default: default)" },
      { name: "new", help: "forget the conversation's session first" },
      { name: "from", value: "USER", help: "the sender of the message" },
      { name: "image-url", value: "URL", help: "an attached image; may be repeated" },
      { name: "file-url", value: "URL", help: "an attached file; may be repeated" },
      {
        name: "attachment",
        value: "JSON",
        help: 'any attachment, as in {"type":"audio","url":"https://…","name":"a.ogg"}; may be repeated',
      },
      WIRE,
      { name: "permission", value: "POLICY", help: "when the agent asks: ask (here, or over --json; the default), allow or deny" },
      JSON_OUTPUT,
    ],
    async run(parsed) {
      const { runBridge } = await import("./run.js");
      return runBridge(parsed, process.env, workingFolder());
    },
  },
  {
    name: "bridge serve",
    usage: "parley bridge serve CONFIG",
    summary: "Brings agents to chats, for as long as it runs: the console, a signed webhook, Telegram, or a platform of your own.",
    details:
      "CONFIG is a YAML file: platforms, the profile and the senders of each, limits (docs/bridge-serve.md). An accepted message is kept on disk\n" +
      "until it is answered, through crashes too. SIGTERM ends running turns, tells their chats, and exits; a second signal exits at once.",
    positionals: 1,
    flags: [],
    async run(parsed) {
      const { serveBridge } = await import("./serve.js");
      return serveBridge(parsed, process.env, workingFolder());
    },
  },
  {
    name: "bridge check",
    usage: "parley bridge check PROFILE|CONFIG [--wire W] [--json]",
    summary: "Validates a profile, finds its command and shows the process that would run. Exit code 1 when something is wrong.",
    details:
      "For the CONFIG of a serving bridge it checks every platform and its profile, and shows who may talk there and who may approve.",
    positionals: 1,
    flags: [WIRE, { ...JSON_OUTPUT, help: "JSON output, for programs" }],
    async run(parsed) {
      const { checkBridge } = await import("./check.js");
      return checkBridge(parsed, process.env, workingFolder());
    },
  },
  {
    name: "bridge profiles",
    usage: "parley bridge profiles [--json]",
    summary: "Lists the ready-made profiles, and whether their programs are installed.",
    positionals: 0,
    flags: [{ ...JSON_OUTPUT, help: "JSON output, for programs" }],
    async run(parsed) {
      const { listProfiles } = await import("./profiles.js");
      return listProfiles(given(parsed, "json"), { env: process.env, cwd: workingFolder() });
    },
  },
];
