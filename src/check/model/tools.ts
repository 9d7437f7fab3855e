/** The tools that an agent offers its model, found by their purpose: every agent has other names for them. */
import * as v from "valibot";

/** A call that a scene wants, in no agent's words. */
export type Wanted =
  | { kind: "write"; path: string; content: string }
  | { kind: "edit"; path: string; from: string; to: string }
  | { kind: "read"; path: string }
  | { kind: "exec"; command: string };

const Parameters = v.looseObject({
  properties: v.optional(v.record(v.string(), v.looseObject({ type: v.optional(v.unknown()) }))),
  required: v.optional(v.array(v.string())),
});
const Tool = v.looseObject({
  name: v.string(),
  input_schema: v.optional(Parameters),
  parameters: v.optional(Parameters),
  parametersJsonSchema: v.optional(Parameters),
});
type Tool = v.InferOutput<typeof Tool>;
/** The three places of a tool: by itself, under `function`, or in a list of declarations. */
const Offered = v.looseObject({
  tools: v.array(
    v.union([
      v.pipe(
        v.object({ function: Tool }),
        v.transform((tool) => [tool.function]),
      ),
      v.pipe(
        v.object({ functionDeclarations: v.array(Tool) }),
        v.transform((group) => group.functionDeclarations),
      ),
      v.pipe(
        Tool,
        v.transform((tool) => [tool]),
      ),
      v.pipe(
        v.unknown(),
        v.transform((): Tool[] => []),
      ),
    ]),
  ),
});

const NAMES: Readonly<Record<Wanted["kind"], RegExp>> = {
  write: /^(write|create)|write_?file/i,
  edit: /^edit|replace/i,
  read: /^(read|view|cat)/i,
  exec: /bash|shell|exec|command|terminal/i,
};

/** The call in the words of a tool that the request offers; undefined where none of them serves. */
export function callOf(wanted: Wanted, request: unknown): { name: string; args: Record<string, unknown> } | undefined {
  const offered = v.safeParse(Offered, request);
  if (!offered.success) return undefined;
  for (const tool of offered.output.tools.flat()) {
    const args = NAMES[wanted.kind].test(tool.name) ? argsOf(wanted, tool) : undefined;
    if (args !== undefined) return { name: tool.name, args };
  }
  return undefined;
}

function argsOf(wanted: Wanted, tool: Tool): Record<string, unknown> | undefined {
  const { properties = {}, required = [] } = tool.input_schema ?? tool.parameters ?? tool.parametersJsonSchema ?? {};
  const names = Object.keys(properties);
  const args: Record<string, unknown> = {};
  for (const [value, pattern] of fieldsOf(wanted)) {
    const name = names.find((one) => pattern.test(one) && !(one in args));
    if (name === undefined) return undefined;
    args[name] = value;
  }
  for (const name of required) if (!(name in args)) args[name] = fillerOf(properties[name]?.type);
  return args;
}

function fieldsOf(wanted: Wanted): [value: string, name: RegExp][] {
  const path = /path|^file$|filename/i;
  switch (wanted.kind) {
    case "write":
      return [
        [wanted.path, path],
        [wanted.content, /content|text/i],
      ];
    case "edit":
      return [
        [wanted.path, path],
        [wanted.from, /^old/i],
        [wanted.to, /^new/i],
      ];
    case "read":
      return [[wanted.path, path]];
    case "exec":
      return [[wanted.command, /^(command|cmd|script)$/i]];
  }
}

function fillerOf(type: unknown): unknown {
  if (type === "boolean") return false;
  if (type === "number" || type === "integer") return 1;
  return type === "array" ? [] : "check";
}
