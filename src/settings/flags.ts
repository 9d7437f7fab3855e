/** The flags of one run: values of the table's rows, and the table's switches. */
import * as v from "valibot";
import { ROWS, type SWITCHES, type TABLE, type SettingKey, type Values } from "./table.js";

type FlagKey = { [K in SettingKey]: (typeof TABLE)[K] extends { flag: unknown } ? K : never }[SettingKey];
type Given = { text: string; choice: string; count: number; list: string[] };
type KindOf<K extends SettingKey> = (typeof TABLE)[K] extends { flag: { as: infer A extends keyof Given } } ? A : never;

/** The values as the command line gives them, not checked yet. */
export type Flags = { [K in FlagKey]?: Given[KindOf<K>] | undefined } & Switches;

type Switches = {
  [K in keyof typeof SWITCHES]?: ((typeof SWITCHES)[K] extends { value: string } ? string : boolean) | undefined;
};

export type CheckedFlags = Values & Switches;

/** Throws nothing: the problems come back as sentences. */
export function checkFlags(flags: Flags): { flags: CheckedFlags; problems: string[] } {
  const { autoApprove, continueLast, fork, workspace, trustWorkspace, noSession, ...given } = flags;
  const counts: string[] = [];
  const choices: string[] = [];
  const checked: Record<string, unknown> = {};
  for (const [key, { flag, schema }] of ROWS) {
    const value = Object.entries(given).find(([name]) => name === key)?.[1];
    if (flag === undefined || value === undefined || (value === "" && flag.mayBeEmpty === true)) continue;
    const isChecked = flag.as === "choice" || flag.as === "count";
    const { issues: [issue] = [], output } = isChecked ? v.safeParse(schema, value) : { output: value };
    const problem = `flag --${flag.name} must ${issue?.message}, not ${typeof value === "string" ? `'${value}'` : String(value)}`;
    if (issue === undefined) checked[key] = output;
    else (flag.as === "count" ? counts : choices).push(problem);
  }
  const empty = [
    ...(workspace === "" ? ["flag --workspace is empty; name a folder or leave it out"] : []),
    ...(flags.offlineModel === "" ? ["flag --offline-model is empty; name a GGUF file or leave it out"] : []),
  ];
  const problems = [...counts, ...empty, ...choices];
  if (flags.resume?.startsWith("-") === true || flags.resume === "") {
    problems.push(`flag --resume takes the ID of a session, not '${flags.resume}'; 'parley sessions' lists them`);
  }
  if (continueLast === true && flags.resume !== undefined) {
    problems.push("flags --continue and --resume exclude each other; give one of them");
  }
  if (autoApprove === true && flags.mode !== undefined && flags.mode !== "yolo") {
    problems.push(`flag --auto-approve and the approval mode '${flags.mode}' contradict each other; give one of them`);
  }
  return { flags: { ...checked, autoApprove, continueLast, fork, workspace, trustWorkspace, noSession }, problems };
}
