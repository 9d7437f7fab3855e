/** The sources of settings in one shape: the values of each by key, and the place of each value. */
import * as v from "valibot";
import { isRecord } from "../core/values/json-object.js";
import type { ConfigFile } from "./config-file.js";
import type { CheckedFlags } from "./flags.js";
import { fileNameOf, ROWS, SWITCH_ROWS, TABLE, type SettingKey, type Values } from "./table.js";

export interface Layer {
  values: Values;
  from(key: SettingKey): string;
}

export function fileLayer({ config, locate }: ConfigFile): Layer {
  const values = ROWS.flatMap(([key, { file }]) => (file === undefined ? [] : [[key, valueAt(config, file)] as const]));
  return { values: valuesOf(values), from: (key) => locate(fileNameOf(key).split(".")) };
}

export function flagLayer(flags: CheckedFlags): Layer {
  const {
    autoApprove: _yolo,
    continueLast: _last,
    fork: _copy,
    noSession: _none,
    workspace: _folder,
    trustWorkspace: _trust,
    ...values
  } = flags;
  const set = SWITCH_ROWS.flatMap(([key, { name, sets }]) => (sets !== undefined && flags[key] === true ? [{ name, sets }] : []));
  return {
    values: { ...values, ...valuesOf(set.map(({ sets }) => sets)) },
    from: (key) => `flag --${set.find(({ sets }) => sets[0] === key)?.name ?? flagName(key)}`,
  };
}

export function presetLayer(): Layer {
  return { values: valuesOf(ROWS.map(([key, { preset }]) => [key, preset])), from: () => "default" };
}

function flagName(key: SettingKey): string {
  return ROWS.find(([name]) => name === key)?.[1].flag?.name ?? key;
}

function valueAt(config: Readonly<Record<string, unknown>>, path: string): unknown {
  const [first = "", name] = path.split(".");
  const value = config[first];
  return name === undefined ? value : isRecord(value) ? value[name] : undefined;
}

/** Keeps the entries whose values fit their rows. */
function valuesOf(entries: readonly (readonly [SettingKey, unknown])[]): Values {
  return Object.fromEntries(entries.filter(([key, value]) => value !== undefined && v.is(TABLE[key].schema, value)));
}
