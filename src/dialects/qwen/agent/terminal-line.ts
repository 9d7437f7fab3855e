/** The annotation that says how a line looked in a terminal, and where it came from. */
import type { Said } from "./lines.js";
import type { Styled } from "./terminal.js";
import type { Terminal } from "../wire/event-lines.js";

export function terminal(
  { turn }: Said,
  kind: Omit<Terminal, "type" | "spans" | "ansi" | "prompt_id">,
  styled: Pick<Styled, "ansi" | "spans"> = { ansi: [], spans: [] },
): Terminal {
  const { ansi, spans } = styled;
  return {
    type: "x-qwen-terminal",
    ...kind,
    spans,
    ansi,
    console_level: kind.console_level ?? null,
    exit_code: kind.exit_code ?? null,
    ...(turn !== undefined && { prompt_id: turn.promptId }),
  };
}
