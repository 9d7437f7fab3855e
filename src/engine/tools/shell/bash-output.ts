/** BashOutput: reads further output of a background command, writes to it, or ends it. */
import * as v from "valibot";
import type { BackgroundCommand } from "./background-commands.js";
import { oneLine } from "../title.js";
import { defineTool, textResult, type ToolContext } from "../tool.js";

const MAX_WAIT_SECONDS = 600;
/** The default wait for an answer to input. */
const ANSWER_SECONDS = 2;
const GRACE_MS = 2000;
const TITLE_CHARS = 60;

export const bashOutput = defineTool({
  name: "BashOutput",
  category: "info",
  access: "none",
  standsFor: ["Bash"],
  description:
    "Returns what a background command of Bash printed since the last look, and whether it still runs. It can wait for its end, write a line to " +
    "its input, or end it.",
  args: v.object({
    id: v.pipe(v.string(), v.regex(/\S/, "must not be empty"), v.description("The id that Bash gave, such as bash_1.")),
    wait_seconds: v.optional(
      v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_WAIT_SECONDS), v.description("Wait so long for its end; less when it ends before.")),
    ),
    input: v.optional(
      v.pipe(v.string(), v.description("Text for its standard input; a line end is added where it has none. Only with background: true.")),
    ),
    end: v.optional(v.pipe(v.boolean(), v.description("End it, with all that it started."))),
  }),
  // Input may be a command line for a running shell, so it is judged as a call of Bash.
  equivalents: ({ input }) => (input === undefined ? [] : [{ tool: "Bash", category: "exec", args: { command: input } }]),
  title: ({ id, input, end }) => {
    if (input !== undefined) return `Write to ${oneLine(id)}: ${oneLine(input, TITLE_CHARS)}`;
    return end === true ? `End ${oneLine(id)}` : `Output of ${oneLine(id)}`;
  },
  async run({ id, wait_seconds, input, end }, context) {
    const { commands } = context.shell;
    const command = commands.get(id);
    if (command === undefined) {
      const known = commands.all().map((each) => `${each.id} (${each.title})`);
      return textResult(`There is no background command ${id}. ${known.length === 0 ? "None runs." : `Known: ${known.join(", ")}`}`, true);
    }
    if (input !== undefined && !command.write(input.endsWith("\n") ? input : `${input}\n`))
      return textResult(
        `${id} takes no input${command.exit === undefined ? ": it was not started with background true" : `: ${command.exit}`}.`,
        true,
      );
    if (end === true) await command.end(GRACE_MS);
    else
      await wait(
        command,
        wait_seconds ?? (input === undefined ? 0 : ANSWER_SECONDS),
        input !== undefined && wait_seconds === undefined,
        context,
      );
    commands.told(command);
    const output = command.take().replace(/\r?\n$/, "");
    const state = command.exit === undefined ? `${id} is running.` : `${id} has ended: ${command.exit}.`;
    return textResult(
      [`${state} Whole output: ${command.file}`, ...(output === "" ? ["(nothing new)"] : [`OUTPUT:\n${output}`])].join("\n"),
    );
  },
});

/** Waits for the end, an interrupt, the time limit, or the next output if that is enough. */
async function wait(command: BackgroundCommand, seconds: number, isOutputEnough: boolean, { signal }: ToolContext): Promise<void> {
  if (seconds === 0 || command.exit !== undefined || signal.aborted) return;
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const timer = setTimeout(stop, seconds * 1000);
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([stopped, command.ended, ...(isOutputEnough && !command.hasOutput ? [command.next()] : [])]);
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
}
