/** ExitPlan: presents the plan, and with the user's yes ends plan mode. */
import * as v from "valibot";
import { defineTool } from "./tool.js";

export const exitPlan = defineTool({
  name: "ExitPlan",
  category: "info",
  access: "none",
  asksAlways: true,
  description:
    "Presents your finished plan to the user for approval. Approved, plan mode ends and you carry the plan out; denied, you stay in " +
    "plan mode and improve it. Call it alone, once the plan is whole.",
  args: v.object({ plan: v.pipe(v.string(), v.regex(/\S/, "must not be empty"), v.description("The whole plan, in Markdown.")) }),
  title: () => "Present the plan",
  preview: ({ plan }) => Promise.resolve([{ type: "plan", text: plan }]),
  async run({ plan }, context) {
    const mode = context.leavePlan();
    const edits = mode === "auto_edit" ? " Edits of files need no further approval." : "";
    return {
      parts: [
        { type: "plan", text: plan },
        { type: "text", text: `The user approved this plan. Plan mode is over: carry it out now.${edits}` },
      ],
    };
  },
});
