/** Claude Code's names of the tools that its side answers itself. */
import { askUserTool } from "../../kit/host-tools.js";

export const ASK_USER = askUserTool("AskUserQuestion");
export const STRUCTURED = "StructuredOutput";
