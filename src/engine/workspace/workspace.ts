/**
 * The workspace: the port through which tools read, write and execute. This is its contract; local.ts keeps it on this machine,
 * and a host that offers its own files and terminals can keep it remotely. Listing and searching have no word here yet: those tools go
 * to the file system themselves.
 */

import type { Needs, Sandbox } from "../sandbox/sandbox.js";

interface Place {
  /** Absolute, every link resolved as far as the path exists. */
  path: string;
  /** As it was written: absolute, without dots, no link resolved. */
  named: string;
  /** Whether it lies below one of the workspace's roots. */
  inside: boolean;
}

export interface FileInfo {
  kind: "file" | "folder" | "other";
  size: number;
  /** A stamp that changes with the content, as well as the system can tell. */
  stamp: string;
  /** Permissions, as the system counts them. */
  mode: number;
}

export interface ExecRequest {
  argv: readonly string[];
  /** Absolute and without links; the workspace's root when absent. */
  cwd?: string;
  /** Variables beside the tools' own environment. */
  env?: Record<string, string>;
  /** Its standard input; empty when absent. */
  input?: string;
  /** Its standard input stays open for `write`. */
  interactive?: boolean;
  onOutput(channel: "stdout" | "stderr", text: string): void;
  /** The output of processes that it leaves behind is told, too, for as long as they run. */
  leftovers?: boolean;
  /** The command runs in the workspace's sandbox, if it has one. */
  confined?: boolean;
  /** The reach of a confined command beyond its sandbox. */
  needs?: Needs | undefined;
  /** The command starts no other process, so none need be looked for. */
  isAlone?: boolean;
}

export interface Running {
  readonly pid: number;
  /** The first process has ended and its output is complete. */
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  /** Whether processes that it started ran on when it had ended; that may be known seconds later. */
  readonly leftover: Promise<boolean>;
  /** A terminal of the host: it does not outlive its call. */
  readonly isHosted?: true;
  /** Writes to an open standard input. False when the command takes no more. */
  write?(text: string): boolean;
  /** TERM to the whole tree, KILL after the grace. */
  end(graceMs: number): Promise<void>;
}

export interface Workspace {
  /** Absolute and real. */
  readonly root: string;
  /** Further roots, absolute and real. */
  readonly directories: readonly string[];
  readonly sandbox?: Sandbox | undefined;
  resolve(path: string): Promise<Place>;
  // The paths below are results of `resolve`. A link that has appeared on one since is not followed: the use fails.
  /** Null when nothing is there. */
  info(path: string): Promise<FileInfo | null>;
  /**
   * Throws a `tool` fault past `maxBytes`. A caller that has just looked at the file passes its `info`: the file is not looked at again
   * then.
   */
  read(path: string, maxBytes: number, seen?: FileInfo): Promise<Uint8Array>;
  /** Atomic: a reader sees the old content or the new. Makes parent folders; keeps the mode of an existing file, unless one is given. */
  write(path: string, data: Uint8Array | string, mode?: number): Promise<void>;
  /** Removes a file, and nothing but a file. */
  remove(path: string): Promise<void>;
  /** Moves a file, makes parent folders, and replaces nothing: it throws where something has the new name. */
  rename(from: string, to: string): Promise<void>;
  exec(request: ExecRequest): Promise<Running>;
}
