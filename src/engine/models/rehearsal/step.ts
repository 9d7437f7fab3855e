/** The steps that an order can be made of: what the person asked for, before any tool is called. */

/** Content that is known, or that an earlier step of the same order will bring. */
export type Content = string | { readonly result: true };
export const RESULT: Content = { result: true };

interface SpawnTask {
  name: string;
  prompt: string;
}

export type RecallWhat = "first" | "previous" | "conversation" | "attachments" | "context" | { fact: string };

export type Step =
  | { do: "read"; files: string[]; limit?: number }
  | { do: "write"; file: string; content: Content }
  | { do: "append"; file: string; content: Content }
  | { do: "edit"; file: string; from: string; to: string; all?: true }
  | { do: "run"; command: string }
  | { do: "grep"; pattern: string; path?: string }
  | { do: "glob"; pattern: string; path?: string }
  | { do: "todo"; items: string[] }
  | { do: "fetch"; url: string }
  | { do: "spawn"; tasks: SpawnTask[] }
  | { do: "call"; tool: string; args: Record<string, unknown> | string }
  | { do: "say"; text: Content }
  | { do: "think"; about: string }
  | { do: "stream"; pieces: number; text: string }
  | { do: "count"; from: number; to: number }
  | { do: "wait"; ms: number | "forever" }
  | { do: "fail"; status?: number; times?: number }
  | { do: "cut" }
  | { do: "remember"; fact: string; value: string }
  | { do: "recall"; what: RecallWhat }
  | { do: "greet" }
  | { do: "help" }
  | { do: "unknown"; text: string };

export type StepOf<D extends Step["do"]> = Extract<Step, { do: D }>;
