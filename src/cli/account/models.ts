/** `parley models`: the models of each provider, as its own list has them where it can be asked, else those that are known by their names. */
import { isProviderName, PROVIDERS } from "../../core/providers/providers.js";
import { toFault, type Fault } from "../../core/errors.js";
import { withRemedy } from "../../core/remedies.js";
import { factsOf, type KnownFacts } from "../../engine/models/facts.js";
import { KNOWN_NAMES } from "../../engine/models/known-names.js";
import { listModels } from "../../engine/models/list-models.js";
import { pricesOf, type Prices } from "../../engine/models/prices.js";
import { chooseProvider, type Env, type Loaded, type Settings } from "../../settings/settings.js";
import { modelSource } from "../compose/build-engine.js";
import { given, type Parsed } from "../command-line/flags.js";
import { harmless } from "../inspect/harmless.js";

/** Facts that are not known are left out. */
interface Row {
  provider: string;
  model: string;
  default?: true;
  context?: number;
  output?: number;
  thinking?: boolean;
  images?: boolean;
  /** US dollars for a million tokens. */
  prices?: Prices;
  /** `provider`: its own list; `config`: the user's; `name`: known by its name. */
  from: "provider" | "config" | "name";
}

export async function models(parsed: Parsed, loaded: Loaded, env: Env): Promise<number> {
  const { settings, warnings } = loaded;
  for (const warning of warnings) process.stderr.write(`parley: ${warning}\n`);
  const [named] = parsed.positionals;
  const all = [...new Set([...Object.keys(PROVIDERS).filter((name) => name !== "rehearsal"), ...Object.keys(settings.providers)])];
  const asked = named === undefined ? all.filter((name) => name !== "local") : [named];
  const found = await Promise.all(asked.map((provider) => modelsOf(provider, settings, env, named !== undefined)));
  const rows = found.flatMap((each) => each.rows);
  for (const { problem } of found) if (problem !== undefined) process.stderr.write(`parley: ${problem}\n`);
  process.stdout.write(given(parsed, "json") ? rows.map((row) => `${JSON.stringify(row)}\n`).join("") : tableOf(rows));
  return rows.length === 0 ? 1 : 0;
}

interface Found {
  rows: Row[];
  problem?: string;
}

async function modelsOf(provider: string, settings: Settings, env: Env, isNamed: boolean): Promise<Found> {
  if (provider === "rehearsal") return { rows: [], problem: "The rehearsal model has no list; --model FILE.yaml names a script" };
  const known = knownRows(provider, settings, env);
  try {
    const listed = await listModels(provider, { ...modelSource(settings, env), ...(isNamed && { chosen: provider }) });
    if (listed === undefined) return { rows: known };
    const own = known.filter(({ model, from }) => from === "config" && !listed.some(({ id }) => id === model));
    return { rows: [...own, ...listed.map(({ id, facts }) => rowOf(provider, id, "provider", settings, env, facts))] };
  } catch (error) {
    const fault = toFault(error);
    // Nobody asked for this provider alone.
    if (!isNamed && fault.param === "apiKey") return { rows: known };
    return { rows: known, problem: problemOf(provider, fault, known.length > 0) };
  }
}

function problemOf(provider: string, fault: Fault, hasKnown: boolean): string {
  const why = withRemedy(fault);
  const what = fault.param === "apiKey" ? why : `${provider} could not be asked for its list: ${why}`;
  return hasKnown ? `${what}. These models are known by their names` : what;
}

function knownRows(provider: string, settings: Settings, env: Env): Row[] {
  const names = KNOWN_NAMES[provider] ?? [];
  const usual = isProviderName(provider) ? PROVIDERS[provider].defaultModel : undefined;
  const byName = [...names, ...(usual === undefined || names.includes(usual) ? [] : [usual])];
  return [
    ...Object.keys(settings.providers[provider]?.models ?? {}).map((id) => rowOf(provider, id, "config", settings, env)),
    ...byName.map((id) => rowOf(provider, id, "name", settings, env)),
  ];
}

function rowOf(provider: string, id: string, from: Row["from"], settings: Settings, env: Env, listed: KnownFacts = {}): Row {
  const { prices = pricesOf(id), ...own } = settings.providers[provider]?.models?.[id] ?? {};
  const given = { ...listed, ...own };
  const facts = factsOf(id, given);
  return {
    provider,
    model: id,
    ...(id === usualModel(provider, settings, env) && { default: true as const }),
    ...(facts.context !== undefined && { context: facts.context }),
    ...(facts.output !== undefined && { output: facts.output }),
    ...(facts.unknown !== true && { thinking: facts.thinking }),
    ...((facts.unknown !== true || given.images !== undefined) && { images: facts.images }),
    ...(prices !== undefined && { prices }),
    from,
  };
}

/** The model of a run that names none. */
function usualModel(provider: string, settings: Settings, env: Env): string | undefined {
  if (settings.model !== undefined && chooseProvider(settings, env) === provider) return settings.model;
  const [own] = Object.keys(settings.providers[provider]?.models ?? {});
  return own ?? (isProviderName(provider) ? PROVIDERS[provider].defaultModel : undefined);
}

const HEADINGS = ["provider", "model", "window", "output", "thinks", "images", "$ in/out per million"];

function tableOf(rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const cells = [HEADINGS, ...rows.map(cellsOf)];
  const widths = HEADINGS.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function cellsOf({ provider, model, default: isDefault, context, output, thinking, images, prices }: Row): string[] {
  return [
    provider,
    `${harmless(model)}${isDefault === true ? " (default)" : ""}`,
    amount(context),
    amount(output),
    answer(thinking),
    answer(images),
    prices === undefined ? "" : `${prices.input}/${prices.output}`,
  ];
}

function amount(tokens: number | undefined): string {
  return tokens === undefined ? "?" : tokens.toLocaleString("en-US");
}

function answer(is: boolean | undefined): string {
  return is === undefined ? "?" : is ? "yes" : "no";
}
