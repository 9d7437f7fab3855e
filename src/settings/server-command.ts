/**
 * The path of a configured MCP server's program: a relative path starts in the folder of the file that names it, never in the workspace.
 */
import { dirname, isAbsolute, resolve, sep } from "node:path";

/** A bare name is left for PATH. */
export function besideFile<T extends { command?: string | undefined }>(file: string, server: T): T {
  const { command } = server;
  if (command === undefined || isAbsolute(command) || !["/", sep].some((mark) => command.includes(mark))) return server;
  return { ...server, command: resolve(dirname(file), command) };
}
