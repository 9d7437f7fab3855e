/** A kind of platform, as the configuration knows it. */
import * as v from "valibot";
import type { Platform } from "./platform.js";

export interface PlatformContext {
  /** Its name in the configuration. */
  name: string;
  env: Readonly<Record<string, string | undefined>>;
  /** What a relative path in its settings is relative to. */
  folder: string;
  /** Where it may keep files; need not exist yet. */
  files: string;
  /** For the people who run the bridge. */
  log(text: string): void;
}

export type OpenPlatform = (context: Omit<PlatformContext, "folder">) => Promise<Platform>;

export interface PlatformKind {
  /** The schema of each of its keys in the configuration. */
  settings: v.ObjectEntries;
  /** Who may talk when nobody says; else nobody. */
  allow?: readonly string[];
  /** The variables that hold secrets of the bridge, which no agent gets to see. */
  secrets(settings: Record<string, unknown>): readonly string[];
  /** `settings` have been checked against the schemas. */
  open(settings: Record<string, unknown>, context: PlatformContext): Promise<Platform>;
}

/** A kind whose `open` sees its settings typed. */
export function kindOf<E extends v.ObjectEntries>(kind: {
  settings: v.StrictObjectSchema<E, undefined>;
  allow?: readonly string[];
  secrets?(settings: v.InferOutput<v.StrictObjectSchema<E, undefined>>): readonly string[];
  open(settings: v.InferOutput<v.StrictObjectSchema<E, undefined>>, context: PlatformContext): Promise<Platform>;
}): PlatformKind {
  const { settings, allow, secrets = () => [], open } = kind;
  return {
    settings: settings.entries,
    ...(allow !== undefined && { allow }),
    secrets: (value) => secrets(v.parse(settings, value)),
    open: (value, context) => open(v.parse(settings, value), context),
  };
}
