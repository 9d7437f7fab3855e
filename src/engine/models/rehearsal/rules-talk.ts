/** Orders to the model itself: say, think, stream, count, wait, fail, cut, remember, recall, help. No tool is called. */
import { FORBIDS, ONLY_ASKS } from "./clauses.js";
import { group, pattern, type Rule, type Situation } from "./rule.js";
import { MARK, QUOTED } from "./spans.js";
import type { RecallWhat, Step } from "./step.js";
import { contentOf, filesIn, isPath, NUMBER, numberOf, REFERS_BACK } from "./words.js";

/** Talk about doing something is no order to do it. */
export const NO_ORDER_RULES: readonly Rule[] = [
  {
    when: pattern`^(?:${FORBIDS}|${ONLY_ASKS})`,
    steps: ({ input }, { marked }) => [{ do: "unknown", text: marked.raw(input) }],
  },
];

export const FAIL_RULES: readonly Rule[] = [
  { when: pattern`^(?:fail|crash|error(?: out)?)\b(.*)$`, steps: (match) => [fail(group(match, 1), 500)] },
  {
    when: pattern`
      ^(?:simulate|pretend|throw|raise|produce|cause|trigger|return|give|hit|act|behave|be|run into|answer with|
      respond with|reply with)\b(.*)$
    `,
    steps: (match) => (TROUBLE.test(match[0]) ? failing(group(match, 1)) : undefined),
  },
  { when: pattern`^(?:overloaded|rate[-\s]?limit(?:ed)?)[.!]?$`, steps: (match) => failing(match[0]) },
  {
    when: pattern`
      ^(?:cut|break|drop|lose|sever|kill|close|interrupt|end|abort|stop)\b.*\b(?:stream|connection|answer|response|
      network|link|line|sentence)\b|^(?:disconnect|hang up|go offline)\b|^lose connection|^(?:simulate|pretend|
      act)\b.*\b(?:cut|lost|broken|dropped|disconnect\w*)\b
    `,
    steps: () => [{ do: "cut" }],
  },
];

const TROUBLE = pattern`
  \b(?:error|failure|limit|limited|overload(?:ed)?|unavailable|status|outage|fail(?:s|ed|ing)?|timeout)\b|
  ^(?:simulate|throw|raise|produce|trigger|return|hit)\b.*\b[45]\d\d\b
`;

const STATUSES: readonly [RegExp, number | undefined][] = [
  [/rate[- ]?limit|too many requests|throttl/i, 429],
  [/overload/i, 529],
  [/auth|api[- ]?key|credential|unauthori[sz]ed|log ?in/i, 401],
  [/forbidden|permission/i, 403],
  [/quota|billing|credit|payment/i, 402],
  [/not found|missing model|unknown model/i, 404],
  [/too (?:long|large|big)|context (?:length|window)/i, 413],
  [/bad gateway/i, 502],
  [/unavailable|outage|maintenance/i, 503],
  [/gateway time-?out|time-?out|timed out/i, 504],
  [/bad request|invalid/i, 400],
  [/server|internal/i, 500],
  [/network|connection|dns|offline/i, undefined],
];

function failing(words: string): Step[] | undefined {
  const known = /\b[45]\d\d\b/.test(words) || STATUSES.some(([name]) => name.test(words));
  return known ? [fail(words, 500)] : undefined;
}

function fail(words: string, otherwise: number): Step {
  const code = /\b([45]\d\d)\b/.exec(words)?.[1];
  const named = STATUSES.find(([name]) => name.test(words));
  const status = code !== undefined ? Number(code) : named === undefined ? otherwise : named[1];
  const counted = pattern`\b(?:(once|twice)|(?:the first )?(${NUMBER}) times?)\b`.exec(words);
  const times = counted === null ? undefined : numberOf((counted[1] ?? counted[2] ?? "1").toLowerCase());
  return { do: "fail", ...(status !== undefined && { status }), ...(times !== undefined && { times }) };
}

const PIECES = "(?:pieces?|chunks?|deltas?|words?|tokens?|parts?|fragments?)";

export const PACE_RULES: readonly Rule[] = [
  {
    when: pattern`
      ^(?:stream|send|emit|output|produce|generate|give|print|write|say|answer with|reply with)\b(?: me)?(?:
      \s+(?:an answer|a reply|text|back|out|exactly|about|of|in|with))* (${NUMBER}) (?:\w+ )?${PIECES}\b(?:.*?(
      ${QUOTED}))?[^\uE000]*$
    `,
    steps: stream,
  },
  {
    when: pattern`^stream\b(?: (?:a|an|some|very|really|long|text|answer|reply|something|for me))*[.!]?$`,
    steps: () => [{ do: "stream", pieces: 200, text: "word " }],
  },
  {
    when: pattern`^count (?:up )?(?:from (${NUMBER}) )?(?:up )?to (${NUMBER})\b`,
    steps: (match) => [{ do: "count", from: numberOf(group(match, 1) || "1"), to: numberOf(group(match, 2)) }],
  },
  {
    when: pattern`^count (?:down )?from (${NUMBER})(?: (?:down )?to (${NUMBER}))?\b`,
    steps: (match) => [{ do: "count", from: numberOf(group(match, 1)), to: numberOf(group(match, 2) || "1") }],
  },
  { when: pattern`^(?:wait|sleep|pause|hang|stall|block|freeze)\b(.*)$`, steps: (match) => [{ do: "wait", ms: waitMs(match[0]) }] },
];

/** "write 10 words to a.txt" is about the file. */
function stream(match: RegExpExecArray, { marked }: Situation): Step[] | undefined {
  if (filesIn(marked, match[0]).some(isPath)) return undefined;
  return [{ do: "stream", pieces: numberOf(group(match, 1)), text: match[2] === undefined ? "word " : marked.value(match[2]) }];
}

/** The time in the words, in milliseconds. */
export function waitMs(words: string): number | "forever" {
  const time = pattern`\b(half|${NUMBER})\s*(?:an? )?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|moment)?\b(?! times)`.exec(words);
  if (/\b(?:forever|indefinitely|until|endlessly|for ?ever)\b/i.test(words)) return "forever";
  if (time?.[1] === undefined) return /^(?:hang|stall|block|freeze)/i.test(words) ? "forever" : 1000;
  const unit = (time[2] ?? "s").toLowerCase();
  const amount = time[1].toLowerCase() === "half" ? 0.5 : numberOf(time[1]);
  return Math.round(amount * (/^(?:ms|milli)/.test(unit) ? 1 : /^mi?n?/.test(unit) && unit !== "moment" ? 60_000 : 1000));
}

export const THINK_RULES: readonly Rule[] = [
  {
    when: pattern`
      ^(?:think|ponder|reflect|consider|reason|meditate|contemplate)\b(?: (?:very|really|hard(?:er)?|deeply|
      carefully|long|step by step|out loud|a (?:bit|moment|while)|for a (?:moment|while|bit)|twice))*(?: (?:about|
      over|of|on|upon|through))?\s*(.*)$
    `,
    steps: (match, { marked }) => [{ do: "think", about: marked.value(group(match, 1).replace(/[.!]$/, "")) }],
  },
];

const FACT =
  "(?:secret|magic|code|pass|special|following)?\\s*" +
  "(?:word|number|name|phrase|code|colou?r|thing|value|city|password|animal|fruit|sentence|key)";

export const MEMORY_RULES: readonly Rule[] = [
  {
    when: pattern`
      ^(?:remember|memori[sz]e|keep in mind|do(?:n't|n’t| not) forget|note(?: down)?|learn)\b(?: that)?\s*:?\s*
      (?:the|this|my|a)?\s*:?\s*(?:(${FACT})\s*(?:is|:|=)? )?(.+)$
    `,
    steps: remember,
  },
  {
    when: pattern`^(?:call me|i am called|i'm called|i’m called) (.+)$`,
    steps: (match, { marked }) => [{ do: "remember", fact: "name", value: told(marked.value(group(match, 1))) }],
  },
  {
    when: pattern`^my ([\p{L}][\p{L}\x20-]{0,40}?) (?:is|are|=) (.+)$`,
    steps: (match, { marked }) => [{ do: "remember", fact: group(match, 1).toLowerCase(), value: told(marked.value(group(match, 2))) }],
  },
  {
    when: pattern`^the (${FACT}) is (.+)$`,
    steps: (match, { marked }) => [{ do: "remember", fact: group(match, 1).toLowerCase(), value: told(marked.value(group(match, 2))) }],
  },

  {
    when: pattern`
      ^(?:what|which)\b.*\b(?:did|have|had) i\b.*\b(?:attach|send along)|\bwhat(?:'s| is)? (?:attached|
      in the attachments?)|^(?:describe|list|show|read)(?: me)? (?:the|my) (?:attachments?|attached|images?|
      pictures?|screenshots?)|^what is (?:on|in) (?:this|the) (?:image|picture|screenshot|attachment)
    `,
    steps: () => recall("attachments"),
  },
  {
    when: pattern`
      ^what\b.*\bi\b.*\b(?:say|said|ask|asked|tell|told|write|wrote|type|typed|want|wanted)\b(?:.*\b)?(?:first|
      at the (?:beginning|start)|initially|originally)\b|^what\b.*\bfirst thing (?:that )?i\b|\bmy (?:very )?first
      \s+(?:message|question|prompt|order|request|words?)
    `,
    steps: () => recall("first"),
  },
  {
    when: pattern`
      ^what\b.*\bdid i\b.*\b(?:say|ask|tell|write|type|want)\b(?!.*\bremember\b).*\b(?:before|last|earlier|
      previously|just now|just)\b|^what did i (?:just )?(?:say|ask|write|tell you)[?.]*$|\bmy (?:last|previous)
      \s+(?:message|question|prompt|order|request)
    `,
    steps: () => recall("previous"),
  },
  {
    when: pattern`
      ^(?:what|which|tell me|say|do you (?:still )?(?:know|remember)|can you recall|recall|repeat)\b.*?\b(
      ${FACT})\b.*\b(?:i|me|remember(?:ed)?|told|gave|mentioned)\b
    `,
    steps: (match) => recall({ fact: group(match, 1).toLowerCase() }),
  },
  {
    when: pattern`
      ^(?:what|which|tell me|say|do you (?:still )?(?:know|remember)|recall|repeat)\b.*\b(?:to remember|remember
      (?:ed)?|i told you|keep in mind)\b
    `,
    steps: () => recall({ fact: "" }),
  },
  {
    when: pattern`
      ^(?:who am i|(?:what(?:'s|’s| is| was| are| were)|tell me|do you (?:still )?(?:know|remember)|
      say) my ([\p{L}][\p{L}\x20-]*?))\s*(?:again)?[?.!]*$
    `,
    steps: (match) => recall({ fact: group(match, 1).toLowerCase() || "name" }),
  },
  {
    when: pattern`^what(?:'s|’s| is| was) the (${FACT})\s*(?:again)?[?.!]*$`,
    steps: (match) => recall({ fact: group(match, 1).toLowerCase() }),
  },
  {
    when: pattern`^(?:what|which|tell me|say|show me)\b.*\b(?:do you know|you know|context|have you been told|were you told|background)\b`,
    steps: () => recall("context"),
  },
  {
    when: pattern`
      ^(?:summari[sz]e|compact|recap|write a summary of|create a summary of|provide a summary of)\b[^.\n]{0,200}\b
      (?:conversation|session|chat|history|discussion|dialogue|messages)\b
    `,
    steps: () => recall("conversation"),
  },
];

function recall(what: RecallWhat): Step[] {
  return [{ do: "recall", what }];
}

function remember(match: RegExpExecArray, { marked }: Situation): Step[] | undefined {
  const words = group(match, 2);
  if (/^(?:to|my|what|the)\b/i.test(words) && words.endsWith("?")) return undefined;
  const own = /^(?:my\s+)?([\p{L}][\p{L} -]{0,40}?)\s+(?:is|are|=)\s+(.+)$/iu.exec(words);
  if (own?.[1] !== undefined && own[2] !== undefined)
    return [{ do: "remember", fact: own[1].toLowerCase(), value: told(marked.value(own[2])) }];
  return [{ do: "remember", fact: group(match, 1).toLowerCase(), value: told(marked.value(words)) }];
}

function told(words: string): string {
  return words.replace(/[.!]+$/, "").replace(/^(?:called|named)\s+(?=\S)/i, "");
}

export const SAY_RULES: readonly Rule[] = [
  {
    when: pattern`^(?:say|repeat|echo|print) (?:the word |the words )?(${MARK}|.+?) (${NUMBER}|twice|once)\s*(?:times)?$`,
    steps: (match, { marked }) =>
      /(?:times|twice|once)$/i.test(match[0])
        ? [
            {
              do: "say",
              text: Array.from({ length: Math.min(numberOf(group(match, 2)), 10_000) }, () => marked.value(group(match, 1))).join(" "),
            },
          ]
        : undefined,
  },
  {
    when: pattern`
      ^(?:say|reply|answer|respond|repeat|echo|shout|whisper|finish|end)\b(?: (?:by|with|back|after me|to me|saying|
      only|just|exactly|simply))*(?: the (?:words?|text|phrase|sentence|following))?(?: (?:by|with|saying|only|
      exactly))*\s*:? (.+)$
    `,
    steps: say,
  },
  {
    when: pattern`
      ^(?:print|output|write|tell me|tell us|display|show(?: me)?|return|type)\s*:?\s*(?:the (?:words?|text) )?(
      ${QUOTED})[.!]?$
    `,
    steps: say,
  },
];

function say(match: RegExpExecArray, { marked }: Situation): Step[] {
  const words = group(match, 1);
  if (REFERS_BACK.test(words)) return [{ do: "say", text: contentOf(marked, words) }];
  const [quoted] = new RegExp(`^${QUOTED}`, "u").exec(words) ?? [];
  if (quoted !== undefined) return [{ do: "say", text: marked.value(quoted) }];
  const text = marked.raw(words);
  return [{ do: "say", text: /^[^.]*\.$/.test(text) ? text.slice(0, -1) : text }];
}

export const SMALL_TALK_RULES: readonly Rule[] = [
  {
    when: pattern`
      ^(?:help|help me|what can (?:you|i) do.*|what do you do.*|who are you|what are you|how do you work|show help|
      commands|usage)[.?!]*$
    `,
    steps: () => [{ do: "help" }],
  },
  {
    when: pattern`
      ^(?:hi|hello|hey|hallo|good (?:morning|evening|afternoon|day)|how are you.*|thanks?.*|thank you.*|yo|ping|
      test|testing)(?: (?:there|parley|again|everyone|world))?[.!?]*$
    `,
    steps: () => [{ do: "greet" }],
  },
  {
    when: pattern`^(?:in|take|with|edit|update|modify|for) (.+)$`,
    steps: (match, { marked }) => (filesIn(marked, group(match, 1)).some(isPath) ? [] : undefined),
  },
  { when: pattern`^(?:do|follow|perform|complete|carry out|these are)\b[^\uE000]{0,60}:$`, steps: () => [] },
  { when: pattern`^do nothing\b`, steps: () => [{ do: "wait", ms: 0 }] },
  { when: pattern`^(?:print|output) (.+)$`, steps: (match, now) => (REFERS_BACK.test(group(match, 1)) ? undefined : say(match, now)) },
  {
    when: pattern`
      ^(?:tell|show|report|give|let|know|summari[sz]e|explain|describe|print|display|say|return|what|which|how|
      succeed|recover|finish|stop|end|be done)\b.*$
    `,
    steps: (_match, { steps }) => (steps.length > 0 ? [] : undefined),
  },
];
