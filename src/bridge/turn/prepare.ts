/** A profile and the values of one turn, as words, folder and environment of a process. Nothing is started here. */
import { accessSync, constants, statSync, type Stats } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { childEnvironment, type Env } from "./environment.js";
import { expand, type Placeholders } from "../profile/expand.js";
import type { Profile } from "../profile/profile.js";

/** The environment and the folder of the bridge. */
export interface Place {
  env: Env;
  cwd: string;
}

export interface Prepared {
  argv: string[];
  cwd: string;
  env: Record<string, string>;
  warnings: string[];
}

export function prepare(profile: Profile, place: Place, values: Placeholders): Prepared {
  const cwd = folderOf(profile, place, values);
  const words = values.SESSION_ID === "" ? profile.argv : [...profile.argv, ...profile.resumeArgs];
  const argv = words.map((word) => expand(word, values));
  return { argv, cwd, ...childEnvironment(profile, place.env, values, cwd) };
}

/** The folder of the agent's process and session. */
export function folderOf({ cwd, dir }: Profile, place: Place, values: Placeholders): string {
  return cwd === undefined ? place.cwd : resolve(dir, expand(homed(cwd, place.env), values));
}

/** Placeholders count only in the author's words. */
function homed(path: string, env: Env): string {
  return path === "~" || path.startsWith("~/") ? `${env["HOME"] ?? "~"}${path.slice(1)}` : path;
}

export type Found = { path: string } | { problem: string };

/** The program of a command, or the reason why there is none. */
export function findProgram(command: string, { cwd, env }: Pick<Prepared, "cwd" | "env">): Found {
  const places = command.includes("/") ? [resolve(cwd, command)] : pathFolders(env).map((folder) => join(resolve(cwd, folder), command));
  const runnable = places.find(isProgram);
  if (runnable !== undefined) return { path: runnable };
  const there = places.find(isFile);
  if (there !== undefined) return { problem: `'${there}' may not be executed; 'chmod +x' makes it so` };
  const [named] = places;
  const isNamedFolder = command.includes("/") && named !== undefined && isFolder(named);
  return { problem: isNamedFolder ? `'${named}' is a folder, and no program` : `'${command}' was not found` };
}

/** The remedy when a command was not found. */
export function remedy(profile: Profile, { argv: [command = ""], cwd }: Prepared): string {
  if (profile.unsplit !== undefined && isProgram(resolve(cwd, profile.unsplit))) {
    return `'${profile.unsplit}' is a program, but its name is split at the blanks; 'split_command: false' keeps it whole`;
  }
  if (command.includes("/") && isFile(resolve(profile.dir, command))) {
    return `'${command}' is meant from '${cwd}'; beside the profile it is '{{PROFILE_DIR}}/${command.replace(/^\.\//, "")}'`;
  }
  return profile.install === undefined ? "" : `install it: ${profile.install}`;
}

function pathFolders(env: Readonly<Record<string, string>>): string[] {
  return (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
}

export function isFolder(path: string): boolean {
  return infoOf(path)?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return infoOf(path)?.isFile() === true;
}

/** Undefined for a path that cannot be looked at, such as a path below a file or with a NUL in it. */
function infoOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
}
