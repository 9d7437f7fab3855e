/** The bridge's configuration: its platforms, the profile and the senders of each, and the limits. */
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import * as v from "valibot";
import { ANSWER_SECONDS } from "../../core/limits.js";
import { checkValue, nameOf, type Keys } from "../../core/values/value-issues.js";
import { isRecord } from "../../core/values/json-object.js";
import { BUILT_IN, isBuiltIn, moduleKind, type OpenPlatform, type PlatformKind } from "../platforms/index.js";
import { brokenFile } from "../profile/broken-file.js";
import { readYamlFile } from "../profile/yaml-file.js";
import { EXT } from "../protocol.js";
import { approversOf, type Approvers, type NamedApprovers } from "./approvers.js";
import type { ConversationLimits } from "./conversations.js";
import { isAllowed, type Senders } from "./refused-senders.js";

/** The configuration file of a bridge; docs/bridge-serve.md has each key. */
export interface BridgeConfig {
  stateFolder: string;
  /** The folder of files that platforms received. A chat cannot attach other files. */
  filesFolder: string;
  limits: BridgeLimits;
  platforms: readonly PlatformConfig[];
}

/** Limits of a bridge. */
export interface BridgeLimits extends ConversationLimits {
  approvalSeconds: number;
  /** The time for which an undeliverable message is tried. */
  retryHours: number;
  /** The time at the end for the delivery of last messages. */
  shutdownSeconds: number;
}

/** The configuration of one chat platform. */
export interface PlatformConfig {
  name: string;
  /** The path as written; a relative one starts in `folder`. */
  profile: string;
  folder: string;
  allow: Senders;
  approvers: Approvers;
  /** The variables that are hidden from agents. */
  secrets: readonly string[];
  open: OpenPlatform;
}

const text = v.pipe(v.string("be a text"), v.nonEmpty("be a text that is not empty"));
const count = (most: number) => {
  const message = `be a whole number from 1 to ${most}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(1, message), v.maxValue(most, message));
};

const SENDER = 'be a sender\'s id, or "*" for everybody';
/** YAML reads the numeric ids of many platforms as numbers. */
const sender = v.pipe(
  v.union([text, v.pipe(v.number(), v.safeInteger(SENDER))], SENDER),
  v.transform((id) => String(id)),
);

const APPROVERS = 'be "senders", or a list of senders\' ids';
const approver = v.pipe(
  sender,
  v.check((id) => id !== "*", 'be a sender\'s id; "approvers: senders" is everybody who may talk'),
);
/** Decides by the shape alone; the schema reports wrong ids at their places. */
const approvers = v.lazy((given) => (Array.isArray(given) ? v.array(approver) : v.literal("senders", APPROVERS)));

const Limits = v.strictObject(
  {
    turns: v.optional(count(1000), 4),
    queue: v.optional(count(10_000), 16),
    conversations: v.optional(count(100_000), 256),
    approvalSeconds: v.optional(count(86_400), ANSWER_SECONDS),
    retryHours: v.optional(count(24 * 365), 24),
    shutdownSeconds: v.optional(count(600), 10),
  },
  "be a mapping",
);

const COMMON = {
  profile: v.optional(text),
  allow: v.optional(v.array(sender, "be a list of senders' ids")),
  approvers: v.optional(approvers),
};

/** Whether a file is a bridge's configuration, right or wrong, and no profile. False for an unreadable file. */
export async function isBridgeConfig(path: string): Promise<boolean> {
  const file = await readYamlFile(path, "bridge config").catch(() => undefined);
  const value = file?.value;
  return isRecord(value) && Object.hasOwn(value, "platforms") && !["command", EXT].some((key) => Object.hasOwn(value, key));
}

/** Paths are relative to the file. Throws a `config` fault that names every wrong place. */
export async function loadBridgeConfig(path: string, home: string): Promise<BridgeConfig> {
  const file = await readYamlFile(path, "bridge config");
  const kinds = kindsIn(file.value);
  const checked = checkValue(schemaFor(kinds), file.value ?? {});
  if ("problems" in checked) {
    const placed = checked.problems.map(({ keys, on, text: what }) => ({
      at: file.offset(keys, on),
      line: `${file.point(keys, on)}: ${what}`,
    }));
    throw brokenFile(placed.toSorted((a, b) => a.at - b.at).map(({ line }) => line));
  }
  const { platforms, profile, limits, stateFolder: named } = checked.output;
  const folder = dirname(resolve(path));
  const missing = Object.entries(platforms).filter(([, own]) => (own.profile ?? profile) === undefined);
  const [, ...moreConsoles] = [...kinds].filter(([, kind]) => kind === BUILT_IN.console);
  const wrong = [
    ...missing.map(([name]) => ({ name, why: "has no profile, and there is none for all" })),
    ...moreConsoles.map(([name]) => ({ name, why: "is a second console, and there is one terminal" })),
  ];
  const mute = Object.entries(platforms).flatMap(([name, { allow, approvers: named }]) => muteApprovers(name, named, allowed(name, allow)));
  if (wrong.length + mute.length > 0)
    throw brokenFile([
      ...wrong.map(({ name, why }) => `${file.point(["platforms", name], "key")}: platforms.${name} ${why}`),
      ...mute.map(({ keys, why }) => `${file.point(keys, "value")}: ${nameOf(keys)} ${why}`),
    ]);
  const stateFolder = named === undefined ? await ownFolder(path, home) : resolve(folder, named);
  return {
    stateFolder,
    filesFolder: join(stateFolder, "files"),
    limits,
    platforms: Object.entries(platforms).map(([name, settings]) => {
      const { profile: own, allow: given, approvers: named, ...rest } = settings;
      const allow = allowed(name, given);
      const kind = kinds.get(name) ?? moduleKind;
      return {
        name,
        profile: own ?? profile ?? "",
        folder,
        allow,
        approvers: approversOf(allow, named),
        secrets: kind.secrets(rest),
        open: (context) => kind.open(rest, { ...context, folder }),
      };
    }),
  };

  function allowed(name: string, given: readonly string[] | undefined): Senders {
    return new Set(given ?? kinds.get(name)?.allow ?? []);
  }
}

/** A sender who may not talk cannot answer either. */
function muteApprovers(name: string, named: NamedApprovers, allow: Senders): { keys: Keys; why: string }[] {
  if (named === undefined || named === "senders") return [];
  return named.flatMap((id, at) =>
    isAllowed(allow, id)
      ? []
      : [{ keys: ["platforms", name, "approvers", at], why: `is '${id}', who may not talk: 'allow' does not name them` }],
  );
}

function schemaFor(kinds: ReadonlyMap<string, PlatformKind>) {
  const entries = [...kinds].map(([name, kind]) => [name, v.strictObject({ ...kind.settings, ...COMMON }, "be a mapping")] as const);
  return v.strictObject(
    {
      profile: v.optional(text),
      stateFolder: v.optional(text),
      limits: v.optional(Limits, {}),
      platforms: v.pipe(
        v.strictObject(Object.fromEntries(entries), "be a mapping of names to platforms"),
        v.check((platforms) => Object.keys(platforms).length > 0, "have at least one platform"),
        v.check((platforms) => Object.keys(platforms).every(isName), "have names of up to 32 letters, digits, dashes and underscores"),
      ),
    },
    "be a mapping",
  );
}

function isName(name: string): boolean {
  return /^[A-Za-z][\w-]{0,31}$/.test(name);
}

/** Finds the kind of each platform, whose schema checks its settings. */
function kindsIn(value: unknown): Map<string, PlatformKind> {
  const platforms = isRecord(value) ? value["platforms"] : undefined;
  if (!isRecord(platforms)) return new Map();
  return new Map(Object.entries(platforms).map(([name, settings]) => [name, kindOf(settings)]));
}

function kindOf(settings: unknown): PlatformKind {
  if (!isRecord(settings)) return UNKNOWN;
  if (settings["module"] !== undefined) return moduleKind;
  const { type } = settings;
  return typeof type === "string" && isBuiltIn(type) ? BUILT_IN[type] : UNKNOWN;
}

/** The kind of an unknown platform: its schema always refuses. */
const UNKNOWN: PlatformKind = {
  settings: { type: v.picklist(Object.keys(BUILT_IN), `be one of ${Object.keys(BUILT_IN).join(", ")}; or give a 'module'`) },
  secrets: () => [],
  open: () => Promise.reject(new Error("a platform of no kind")),
};

/** Each configuration has a state folder of its own, so that two bridges of one user do not share it. */
async function ownFolder(path: string, home: string): Promise<string> {
  return join(
    home,
    "bridge-serve",
    createHash("sha256")
      .update(await realpath(path))
      .digest("hex")
      .slice(0, 16),
  );
}
