/**
 * The file of a recording: a list of responses, one on each line, in the order of their requests, which is the order in
 * which a script is followed. Each is appended in one write at its end, so the file is a valid script at any time.
 */
import { appendFileSync, chmodSync, writeFileSync } from "node:fs";
import { join, parse } from "node:path";
import { messageOf } from "../../core/errors.js";

export interface ScriptFile {
  /** Takes a place in the order; the returned function writes the response. The file's first line names `from`. */
  next(from: string): (response: Record<string, unknown>) => void;
  /** The reason for which nothing is written. */
  readonly problem: string | undefined;
}

/** One file for each model: `run.yaml`, then `run-2.yaml`, and so on. */
export function scriptFiles(path: string): () => ScriptFile {
  let files = 0;
  return () => scriptFile(() => (++files === 1 ? path : numbered(path, files)));
}

function numbered(path: string, number: number): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}-${number}${ext}`);
}

/** The name is chosen with the first request: a model without requests leaves no file. */
function scriptFile(name: () => string): ScriptFile {
  let path: string | undefined;
  let problem: string | undefined;
  /** In the order of the requests; undefined for an unfinished one. */
  const waiting: { line?: string }[] = [];

  return {
    next(from) {
      if (path === undefined) {
        path = name();
        begin(path, `# Recorded from ${from}\n`);
      }
      const place: { line?: string } = {};
      waiting.push(place);
      return (response) => {
        // JSON is YAML too.
        place.line = `- ${JSON.stringify(response)}\n`;
        flush();
      };
    },
    get problem() {
      return problem;
    },
  };

  /** Readable by the user alone: even without secrets it is private. */
  function begin(file: string, heading: string): void {
    attempt(() => {
      writeFileSync(file, heading, { mode: 0o600 });
      chmodSync(file, 0o600);
    });
  }

  function flush(): void {
    let lines = "";
    while (waiting[0]?.line !== undefined) lines += waiting.shift()?.line ?? "";
    const file = path;
    if (lines !== "" && file !== undefined) attempt(() => appendFileSync(file, lines));
  }

  /** A failing recording ends the recording, not the run. */
  function attempt(work: () => void): void {
    if (problem !== undefined) return;
    try {
      work();
    } catch (error) {
      problem = `PARLEY_RECORD: this run is not recorded: ${messageOf(error)}`;
    }
  }
}
