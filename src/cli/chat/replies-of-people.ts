/** The answers that a person may give to a question, and the meaning of a reply. */
import type { Call, Covers } from "../../core/event.js";
import type { Answer } from "../../core/op.js";
import type { QuestionAnswers, Questions } from "../../core/question.js";

/** An answer that a person may give, by its key. */
export interface ApprovalOption {
  key: string;
  words: string;
}

/** "Always" is offered where it covers something, and of a plan it means the edits that follow. */
export function approvalOptions(call: Call): ApprovalOption[] {
  if (isPlan(call))
    return [
      { key: "y", words: "go ahead" },
      { key: "a", words: "go ahead, and edit files unasked" },
      { key: "n", words: "no, or write what to change" },
    ];
  const covered = call.covers === undefined ? undefined : coverText(call.covers);
  const wider =
    covered === undefined
      ? []
      : [
          { key: "a", words: `always ${covered} in this session` },
          { key: "p", words: `always ${covered} in this project` },
        ];
  return [{ key: "y", words: "once" }, ...wider, { key: "n", words: "no, or write why not" }];
}

/** An empty reply is no. "Always" reaches as far as the question said; any other words are a no with that reason. */
export function readApproval(asked: Call, reply: string): Answer {
  const call = asked.id;
  const word = reply.trim();
  const isOffered = (key: string): boolean => approvalOptions(asked).some((option) => option.key === key);
  if (/^(y|yes)$/i.test(word)) return { call, decision: "allow" };
  if (/^(a|always)$/i.test(word) && isOffered("a")) return { call, decision: "allow", grant: isPlan(asked) ? "tool" : "prefix" };
  if (/^(p|project)$/i.test(word) && isOffered("p")) return { call, decision: "allow", grant: "prefix", keep: "project" };
  return { call, decision: "deny", reason: /^(n|no)?$/i.test(word) ? "the user said no" : word };
}

function isPlan({ preview = [] }: Call): boolean {
  return preview.some((part) => part.type === "plan");
}

function coverText({ prefix, domain, tool = "this", within }: Covers): string {
  if (prefix !== undefined) return `\`${prefix} …\``;
  if (domain !== undefined) return `pages of ${domain}`;
  return within === undefined ? tool : `${tool} in the workspace`;
}

type Question = Questions["questions"][number];
type Answered = QuestionAnswers["answers"][number];

/** Numbers or names of options where the whole reply is such, else words. */
export function readAnswer({ options, multiple }: Question, reply: string): Answered {
  const words = reply.trim();
  const picked = words.split(/[\s,]+/).map((word) => (/^\d+$/.test(word) ? options[Number(word) - 1]?.label : undefined));
  const labels = picked.flatMap((label) => label ?? []);
  const isPick = labels.length === picked.length && (labels.length === 1 || multiple === true);
  if (isPick) return { labels };
  const named = options.find(({ label }) => label.toLowerCase() === words.toLowerCase());
  return named === undefined ? { labels: [], text: words } : { labels: [named.label] };
}
