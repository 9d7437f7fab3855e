/** WebSearch: the search of the model's vendor, if it has one. */
import * as v from "valibot";
import { capText } from "../../workspace/output.js";
import { NOTES_CHARS } from "../files/text-file.js";
import { oneLine } from "../title.js";
import { defineTool, textResult } from "../tool.js";

const MAX_QUERY_CHARS = 1000;
const MAX_SOURCES = 20;

export const webSearch = defineTool({
  name: "WebSearch",
  category: "exec",
  access: "none",
  description:
    "Searches the web and returns an answer with its sources. Use it for what you cannot know or what may have changed: releases, current " +
    "documentation, error messages of libraries. Put the names and versions into the query. Read a source whole with WebFetch.",
  args: v.object({
    query: v.pipe(
      v.string(),
      v.regex(/\S/, "must not be empty"),
      v.maxLength(MAX_QUERY_CHARS),
      v.description("One question, or the words to look for."),
    ),
  }),
  title: ({ query }) => oneLine(`Search the web for ${query}`),
  async run({ query }, context) {
    const { text, sources } = await context.searchWeb(query);
    const places = sources
      .slice(0, MAX_SOURCES)
      .map(({ url, title }) => (title === undefined ? `- ${url}` : `- ${oneLine(title)}: ${url}`));
    const list = places.length === 0 ? "" : `\n\nSources:\n${places.join("\n")}`;
    const room = Math.max(0, context.outputChars - list.length - NOTES_CHARS);
    const answer = text.trim() === "" ? "The search found nothing." : text.trim();
    return textResult(capText(context.redactor.text(answer), room) + context.redactor.text(list));
  },
});
