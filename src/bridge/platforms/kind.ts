/** A kind of platform, as the configuration knows it. */
import * as v from "valibot";
import type { Platform } from "./platform.js";

/** The surroundings that the bridge gives to a chat platform. */
export interface PlatformContext {
  /** Its name in the configuration. */
  name: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The folder of relative paths in its settings. */
  folder: string;
  /** The folder for its files; it may not exist yet. */
  files: string;
  /** Writes a line for the people who run the bridge. */
  log(text: string): void;
}

export type OpenPlatform = (context: Omit<PlatformContext, "folder">) => Promise<Platform>;

export interface PlatformKind {
  /** The schema of each of its keys in the configuration. */
  settings: v.ObjectEntries;
  /** Default allow-list; empty when absent. */
  allow?: readonly string[];
  /** The variables with secrets of the bridge, which are hidden from agents. */
  secrets(settings: Record<string, unknown>): readonly string[];
  /** `settings` have passed the schemas. */
  open(settings: Record<string, unknown>, context: PlatformContext): Promise<Platform>;
}

/** Makes a kind whose `open` gets typed settings. */
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
