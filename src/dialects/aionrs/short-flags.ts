/** The short flags of an aionrs command line: there `-p` is the provider. */
export const SHORT_FLAGS: ReadonlyMap<string, string> = new Map([
  ["-p", "--provider"],
  ["-m", "--model"],
  ["-k", "--api-key"],
  ["-b", "--base-url"],
]);
