/** The tools that every session has. */
import { BUILT_IN_AGENTS } from "../turn/sub-agents/built-in-agents.js";
import { applyPatch } from "./patch/apply-patch.js";
import { bash } from "./shell/bash.js";
import { bashOutput } from "./shell/bash-output.js";
import { edit } from "./files/edit.js";
import { glob } from "./search/glob.js";
import { grep } from "./search/grep.js";
import { read } from "./files/read.js";
import { spawnTool } from "./spawn.js";
import { todoWrite } from "./todo-write.js";
import type { Tool } from "./tool.js";
import { webFetch } from "./web/web-fetch.js";
import { webSearch } from "./web/web-search.js";
import { write } from "./files/write.js";

export const builtinTools: readonly Tool[] = [
  read,
  write,
  edit,
  applyPatch,
  bash,
  bashOutput,
  glob,
  grep,
  spawnTool(BUILT_IN_AGENTS),
  todoWrite,
  webFetch(),
  webSearch,
];
