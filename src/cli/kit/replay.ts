/** `parley replay`: a recorded agent as an agent, in any dialect, for the host that starts it. */
import { readPace } from "../../check/replay/pace.js";
import { replay } from "../../check/replay/replay.js";
import { readTape } from "../../check/tape/tape.js";
import { loadDialect } from "../../dialects/index.js";
import { serve } from "../../link/serve.js";
import { stdio } from "../../transports/stdio.js";
import { given, text, usage, type Parsed } from "../command-line/flags.js";
import { keepStdoutClean } from "../compose/protocol-stdout.js";
import { endOnSignal } from "../compose/signals.js";
import { turnVariables } from "../serve/turn-variables.js";

export async function runReplay(parsed: Parsed, env: NodeJS.ProcessEnv): Promise<number> {
  const [path] = parsed.positionals;
  if (path === undefined) throw usage("Which tape? parley replay TAPE --as DIALECT");
  const as = text(parsed, "as");
  if (as === undefined) throw usage("In which dialect? parley replay TAPE --as DIALECT");
  const dialect = await loadDialect(as);
  const pace = readPace(text(parsed, "pace") ?? "instant");
  const tape = await readTape(path);
  keepStdoutClean();
  const pipe = stdio(dialect.framing);
  let isDifferent = false;
  const isStrict = given(parsed, "strict");
  const agent = replay(tape, {
    pace,
    isStrict,
    onDifference(line, what) {
      isDifferent = true;
      console.error(`parley: ${path}:${line}: ${what}`);
    },
  });
  const signals = endOnSignal(agent);
  // The dialect's own flags say what form its lines have.
  const launch = { argv: process.argv.slice(2), env: turnVariables(env), cwd: process.cwd() };
  const closed = await serve(agent, dialect, pipe, { launch, onLog: (words) => console.error(`parley: ${words}`) });
  await pipe.flushed();
  return signals.code() ?? (isStrict && isDifferent ? DIFFERENT : (closed.code ?? 0));
}

const DIFFERENT = 3;
