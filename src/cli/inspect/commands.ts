/** Commands about this installation: trust, completion and newer versions, as data. */
import type { Command } from "../command-line/commands.js";
import { given, usage } from "../command-line/flags.js";
import { workingFolder } from "../compose/working-folder.js";

export const INSPECT_COMMANDS: readonly Command[] = [
  {
    name: "trust",
    usage: "parley trust [DIR | --list | --remove [DIR]]",
    summary: "Marks a workspace as trusted: its own configuration counts from then on.",
    positionals: 1,
    flags: [
      { name: "list", help: "list the trusted folders; each covers the folders in it" },
      { name: "remove", help: "take the trust of DIR back" },
    ],
    async run(parsed) {
      const { positionals } = parsed;
      const { listTrust, trustWorkspace, untrustWorkspace } = await import("./trust-workspace.js");
      if (given(parsed, "list") && (given(parsed, "remove") || positionals.length > 0))
        throw usage("--list stands alone: parley trust --list");
      if (given(parsed, "list")) return print(await listTrust(process.env, workingFolder()));
      const [dir = "."] = positionals;
      const change = given(parsed, "remove") ? untrustWorkspace : trustWorkspace;
      return print(await change(dir, process.env, workingFolder()));
    },
  },
  {
    name: "completion",
    usage: "parley completion bash | zsh | fish",
    summary: "Prints a script that completes commands and flags in your shell.",
    details:
      'bash: eval "$(parley completion bash)" in ~/.bashrc. zsh: the same with zsh, behind compinit. fish: parley completion fish | source.',
    positionals: 1,
    flags: [],
    async run({ positionals: [shell] }) {
      const { completionFor } = await import("./completion.js");
      return print(completionFor(shell));
    },
  },
  {
    name: "upgrade",
    usage: "parley upgrade --check",
    summary: "Asks npm whether there is a newer version. Nothing else looks for one.",
    positionals: 0,
    flags: [{ name: "check", help: "ask, and change nothing" }],
    async run(parsed) {
      if (!given(parsed, "check"))
        throw usage("parley upgrade --check asks whether there is a newer version; 'npm install -g agent-parley@latest' installs it");
      const { checkForUpgrade } = await import("./upgrade.js");
      return print(await checkForUpgrade());
    },
  },
];

function print(output: string): number {
  process.stdout.write(output);
  return 0;
}
