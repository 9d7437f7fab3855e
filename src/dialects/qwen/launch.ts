/** The command line, as far as it is wire: the two formats. */

export interface Formats {
  /** `text`: one prompt came with the command line, and nobody answers. */
  input: string;
  output: string;
}

const DEFAULTS: Formats = { input: "stream-json", output: "stream-json" };

export function readFormats(argv: readonly string[]): Formats {
  return { input: valueOf(argv, "--input-format") ?? DEFAULTS.input, output: valueOf(argv, "--output-format") ?? DEFAULTS.output };
}

export function writeFormats({ input, output }: Formats): string[] {
  return ["--input-format", input, "--output-format", output];
}

function valueOf(argv: readonly string[], flag: string): string | undefined {
  const at = argv.lastIndexOf(flag);
  return at === -1 ? undefined : argv[at + 1];
}
