/** The tools that every session has. */
import { BUILT_IN_AGENTS } from "../turn/built-in-agents.js";
import { bash } from "./bash.js";
import { edit } from "./edit.js";
import { glob } from "./glob.js";
import { grep } from "./grep.js";
import { read } from "./read.js";
import { spawnTool } from "./spawn.js";
import { todoWrite } from "./todo-write.js";
import type { Tool } from "./tool.js";
import { webFetch } from "./web-fetch.js";
import { write } from "./write.js";

export const builtinTools: readonly Tool[] = [read, write, edit, bash, glob, grep, spawnTool(BUILT_IN_AGENTS), todoWrite, webFetch()];
