/** Replaces the references in a schema by their targets, for vendors that take none. */
import { isRecord } from "../../../core/values/json-object.js";

/** The most references to follow. Definitions that use each other may multiply without end; the rest becomes an object of any shape. */
const MOST = 200;

type Json = Record<string, unknown>;

export function withoutReferences(schema: Json): Json {
  let left = MOST;
  const { $defs: _defs, definitions: _definitions, ...top } = schema;
  return inlined(top, ["#"]);

  /** `above`: the references around this place. A reference inside itself is not followed. */
  function inlined(value: Json, above: readonly string[]): Json {
    const { $ref: reference, ...beside } = value;
    if (typeof reference === "string") return referred(reference, beside, above);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, within(item, above)]));
  }

  function within(value: unknown, above: readonly string[]): unknown {
    if (Array.isArray(value)) return value.map((item) => within(item, above));
    return isRecord(value) ? inlined(value, above) : value;
  }

  function referred(reference: string, beside: Json, above: readonly string[]): Json {
    const found = above.includes(reference) || left === 0 ? undefined : pointedAt(schema, reference);
    if (!isRecord(found)) return inlined({ ...beside, type: "object" }, above);
    left--;
    return inlined({ ...found, ...beside }, [...above, reference]);
  }
}

/** The schema at a JSON pointer; undefined for any other address. */
function pointedAt(schema: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  const keys = reference.slice(2).split("/");
  return keys.reduce<unknown>((place, key) => {
    const name = unescaped(key);
    if (Array.isArray(place)) return place[Number(name)];
    return isRecord(place) && Object.hasOwn(place, name) ? place[name] : undefined;
  }, schema);
}

/** References are URLs: a name in them may be encoded. */
function unescaped(key: string): string {
  return decoded(key).replaceAll("~1", "/").replaceAll("~0", "~");
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
