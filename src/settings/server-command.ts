/** Where the program of a configured MCP server lies: a relative path is taken from the folder of the file that names it, never from the workspace. */
import { dirname, isAbsolute, resolve, sep } from "node:path";

/** A bare name stays one, for the PATH to find. */
export function besideFile<T extends { command?: string | undefined }>(file: string, server: T): T {
  const { command } = server;
  if (command === undefined || isAbsolute(command) || !["/", sep].some((mark) => command.includes(mark))) return server;
  return { ...server, command: resolve(dirname(file), command) };
}
