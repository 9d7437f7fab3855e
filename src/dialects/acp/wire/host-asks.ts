/** The data of a `host.request` of the kinds "fs" and "terminal". */
import * as v from "valibot";

const text = v.string();

export const HostAsk = v.variant("do", [
  v.looseObject({ do: v.literal("read"), path: text, line: v.optional(v.number()), limit: v.optional(v.number()) }),
  v.looseObject({ do: v.literal("write"), path: text, content: text }),
  v.looseObject({
    do: v.literal("create"),
    command: text,
    args: v.optional(v.array(text)),
    env: v.optional(v.record(text, text)),
    cwd: v.optional(text),
    outputByteLimit: v.optional(v.number()),
  }),
  v.looseObject({ do: v.literal("output"), terminal: text }),
  v.looseObject({ do: v.literal("wait"), terminal: text }),
  v.looseObject({ do: v.literal("kill"), terminal: text }),
  v.looseObject({ do: v.literal("release"), terminal: text }),
]);
export type HostAsk = v.InferOutput<typeof HostAsk>;
