/** The output of `parley bridge run`: the reply for people, or lines for programs. */
import type { Profile, TurnEvents, TurnResult } from "../../bridge/index.js";
import { shown } from "../../core/text/terminal-text.js";

export interface Output extends Pick<TurnEvents, "partial" | "warning"> {
  /** Writes a line of its own; only programs get one. */
  say(line: unknown): void;
  /** Ends the line of stdout, so that text on stderr begins a line on a screen that shows both. */
  endLine(): void;
  /** False when there is no reader. */
  result(result: TurnResult): Promise<boolean>;
}

function warn(text: string): void {
  process.stderr.write(`parley: ${shown(text, process.stderr)}\n`);
}

/** The first revisions of AgentProc have no roles. */
export function forMachines(profile: Profile | undefined): Output {
  const isOfLines = profile?.protocol === "0.1" || profile?.protocol === "0.2";
  const hasRoles = !isOfLines || profile.dialect !== undefined || profile.output !== undefined;
  const say = (line: unknown): Promise<void> | undefined => written(process.stdout, `${JSON.stringify(line)}\n`);
  return {
    say: (line) => void say(line),
    endLine() {},
    partial: (text, role) => say({ type: "partial", text, ...(hasRoles && { role }) }),
    warning: warn,
    async result(result) {
      if (result.error !== "") void say({ type: "error", message: result.error });
      return arrived(`${JSON.stringify(resultLine(result))}\n`);
    },
  };
}

/** Thinking and other roles are not part of the answer. */
export function forPeople(): Output {
  let last = "\n";
  const write = (text: string): Promise<void> | undefined => {
    last = text.at(-1) ?? last;
    return written(process.stdout, shown(text, process.stdout));
  };
  const endLine = (): void => {
    if (process.stdout.isTTY && last !== "\n") void write("\n");
  };
  return {
    say() {},
    endLine,
    partial: (text, role) => (role === "output" ? write(text) : written(process.stderr, shown(text, process.stderr))),
    warning(text) {
      endLine();
      warn(text);
    },
    async result({ reply, error }) {
      const apart = last === "\n" ? "" : "\n";
      const isHeard = await arrived(apart + (reply === "" ? "" : `${shown(reply, process.stdout)}\n`));
      if (error !== "") warn(error);
      return isHeard;
    },
  };
}

function resultLine(result: TurnResult): object {
  const { reply, sessionId, error, exitCode, processExitCode, signal, timedOut, truncated, usage, stderr, body } = result;
  return {
    type: "result",
    reply,
    session_id: sessionId,
    error,
    exit_code: exitCode,
    process_exit_code: processExitCode,
    signal,
    timed_out: timedOut,
    truncated,
    ...(usage !== undefined && { usage }),
    ...(stderr !== undefined && { stderr }),
    ...(body !== undefined && { body }),
  };
}

/** Resolves to whether the last output was written. */
function arrived(text: string): Promise<boolean> {
  return new Promise((resolve) => process.stdout.write(text, (error) => resolve(error === null || error === undefined)));
}

/** Returns a promise while the reader is slow. */
function written(stream: NodeJS.WriteStream, text: string): Promise<void> | undefined {
  if (stream.write(text) || stream.destroyed) return undefined;
  return new Promise((resolve) => {
    for (const event of ["drain", "error", "close"]) stream.once(event, () => resolve());
  });
}
