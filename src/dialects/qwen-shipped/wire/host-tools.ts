/** Qwen Code's names of the tools that its side answers itself. */
import { askUserTool } from "../../kit/host-tools.js";

export const ASK_USER = askUserTool("ask_user_question");
export const STRUCTURED = "structured_output";
