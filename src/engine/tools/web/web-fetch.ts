/** WebFetch: a page of the open internet as text. */
import * as v from "valibot";
import { messageOf } from "../../../core/errors.js";
import { capText } from "../../workspace/output.js";
import { failure, isBinary, NOTES_CHARS } from "../files/text-file.js";
import { oneLine } from "../title.js";
import { defineTool, textResult, type Tool } from "../tool.js";
import type { WebPage } from "./get.js";

const TIME_LIMIT_MS = 30_000;

interface WebFetchOptions {
  /** The addresses that may be reached: the open internet by default. Tests give their own server on this machine. */
  mayReach?: (address: string) => boolean;
  timeLimitMs?: number;
}

export function webFetch(options: WebFetchOptions = {}): Tool {
  return defineTool({
    name: "WebFetch",
    category: "exec",
    access: "none",
    description:
      "Fetches an http or https URL and returns its text; HTML is reduced to what people read, with the addresses of links. " +
      "Private and local addresses (use Bash for those), binary files and pages of more than 5 MiB are refused.",
    args: v.object({
      url: v.pipe(v.string(), v.minLength(1), v.description("The whole address.")),
      max_chars: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.description("How much text to return at most."))),
    }),
    title: ({ url }) => oneLine(`Fetch ${url}`),
    async run(args, context) {
      const limit = AbortSignal.timeout(options.timeLimitMs ?? TIME_LIMIT_MS);
      try {
        const signal = AbortSignal.any([context.signal, limit]);
        const { webGet } = await import("./get.js");
        const { isPublicAddress } = await import("./public-address.js");
        const page = await webGet(args.url, { signal, mayReach: options.mayReach ?? isPublicAddress });
        const text = await pageText(page);
        if (text === null) return failure(`${page.url.href} is not text but ${page.type === "" ? "binary data" : page.type}.`);
        const heading = `${page.url.href}\n${page.status} ${page.statusText}\n\n`;
        const room = Math.max(0, context.outputChars - heading.length - NOTES_CHARS);
        return textResult(
          heading + capText(context.redactor.text(text), Math.min(args.max_chars ?? room, room)),
          page.status < 200 || page.status > 299,
        );
      } catch (error) {
        return failure(limit.aborted ? `Could not fetch ${args.url}: it took too long` : messageOf(error));
      }
    },
  });
}

/** Null if the content is not text. */
async function pageText(page: WebPage): Promise<string | null> {
  const [media = "", ...parameters] = page.type.split(";").map((part) => part.trim());
  if (!isTextual(media, page.body)) return null;
  const charset = parameters
    .find((part) => part.startsWith("charset="))
    ?.slice("charset=".length)
    .replace(/^"|"$/g, "");
  const text = decode(page.body, charset);
  if (media !== "text/html" && media !== "application/xhtml+xml") return text;
  const { htmlText } = await import("./html-text.js");
  return htmlText(text, page.url.href);
}

function isTextual(media: string, body: Uint8Array): boolean {
  if (media === "") return !isBinary(body);
  return media.startsWith("text/") || /^application\/(?:.*[+-])?(?:json|ndjson|xml|javascript|yaml|toml|sh|sql)$/.test(media);
}

function decode(body: Uint8Array, charset = "utf-8"): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // The charset is unknown.
    return new TextDecoder().decode(body);
  }
}
