/** The formats of a one-prompt run on stdout: the answer as text, one object at the end, or every event as a line. */
import type { Agent } from "../../core/agent.js";
import type { Fault } from "../../core/errors.js";
import type { Event } from "../../core/event.js";
import { withRemedy } from "../../core/remedies.js";
import type { Sink } from "../chat/screen.js";
import { ResultOfEvents } from "../../host/turn-result.js";

export const FORMATS = ["text", "json", "events"] as const;
export type Format = (typeof FORMATS)[number];

export interface Output {
  see(event: Event): void;
  /** The run failed although its session is open. */
  failed(fault: Fault): void;
  /** The agent refused to open the session, as its events tell, too. */
  refused(fault: Fault): void;
  end(): void;
}

/** Text goes to stdout while it comes; the other formats have it in their own place. */
export function answerSink(format: Format): Sink {
  return format === "text" ? process.stdout : { write: () => true };
}

export function outputOf(format: Format): Output {
  switch (format) {
    case "text":
      return { see() {}, failed() {}, refused() {}, end() {} };
    case "json":
      return jsonOutput();
    case "events":
      return { see: writeLine, failed: (fault) => writeLine(fatal(fault)), refused() {}, end() {} };
    default:
      return format satisfies never;
  }
}

function jsonOutput(): Output {
  const result = new ResultOfEvents();
  const failed = (fault: Fault): void => result.fail({ ...fault, message: withRemedy(fault) });
  return { see: (event) => result.see(event), failed, refused: failed, end: () => writeLine(result.value()) };
}

/** The output of a run that failed before it had an agent. */
export function writeRefusal(format: Format, fault: Fault): void {
  const output = outputOf(format);
  output.failed(fault);
  output.end();
}

function fatal(fault: Fault): Event {
  return { type: "error", fault: { ...fault, message: withRemedy(fault) }, fatal: true };
}

function writeLine(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** The agent, whose events `output` sees on their way. */
export function listened(agent: Agent, output: Output): Agent {
  return { ...agent, events: seen(agent.events, output) };
}

async function* seen(events: AsyncIterable<Event>, output: Output): AsyncIterable<Event> {
  for await (const event of events) {
    output.see(event);
    yield event;
  }
}
