// Any agent that a profile describes, one turn at a time, for a program that talks to people; what it may do is ours to say.
import { createRunner, findProfile } from "agent-parley/bridge";

const { profile } = await findProfile("rehearsal"); // or a file: ./my-agent.yaml
const runner = createRunner(profile);

const result = await runner.run(
  { message: "Run `echo hello from an agent`.", sessionName: "ann", from: "ann", attachments: [] },
  {
    partial: (text) => void process.stdout.write(text),
    permission: async ({ tool, input }) =>
      tool === "Bash" && input.command.startsWith("echo ") ? { behavior: "allow" } : { behavior: "deny", message: "only echo" },
    warning: console.error,
  },
  AbortSignal.timeout(60_000),
);
console.log(`\n${result.error || result.reply}(exit code ${result.exitCode})`);
await runner.close();
