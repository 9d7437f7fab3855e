/** `parley permissions`: grants that were kept for a project, listed and taken back. */
import { realpath } from "node:fs/promises";
import { keptGrants, type KeptGrant } from "../../engine/permissions/grants/kept-grants.js";
import { homeOf } from "../../os/files/home.js";
import type { Env } from "../../settings/settings.js";
import { isOwnerName, ownerHome } from "../compose/owners.js";
import { workingFolder } from "../compose/working-folder.js";
import { given, text, usage, type Parsed } from "../command-line/flags.js";
import { harmless } from "./harmless.js";

export async function runPermissions(parsed: Parsed, env: Env): Promise<number> {
  const [what = "list", rule] = parsed.positionals;
  const owner = text(parsed, "owner");
  if (owner !== undefined && !isOwnerName(owner)) throw usage(`--owner takes the name of a token, and '${owner}' is no name`);
  const kept = keptGrants(ownerHome(homeOf(env, workingFolder()), owner));
  const workspace = given(parsed, "all") ? undefined : await realpath(workingFolder());
  const isMeant = (grant: KeptGrant): boolean => (workspace ?? grant.workspace) === grant.workspace;
  const json = given(parsed, "json");
  if (what === "list") {
    if (rule !== undefined) throw usage(`Unexpected argument '${rule}' (see --help)`);
    show((await kept.list()).filter(isMeant), json, workspace === undefined ? "No permission is kept." : elsewhere(workspace));
    return 0;
  }
  if (what !== "remove") throw usage(`'${what}' is not list or remove`);
  if (rule === undefined) throw usage("Which permission? parley permissions remove RULE ('parley permissions' lists them)");
  const removed = await kept.remove(rule, workspace);
  if (removed.length === 0) {
    process.stderr.write(
      `parley: There is no permission '${rule}'${workspace === undefined ? "" : ` for ${workspace}`}; 'parley permissions' lists them\n`,
    );
    return 1;
  }
  if (json) show(removed, json, "");
  else
    for (const grant of removed)
      process.stdout.write(`'${grant.rule}' is asked about again in ${grant.workspace}, in sessions that begin from now on.\n`);
  return 0;
}

function show(grants: readonly KeptGrant[], json: boolean, none: string): void {
  if (json) for (const grant of grants) process.stdout.write(`${JSON.stringify(grant)}\n`);
  else if (grants.length === 0) process.stdout.write(`${none}\n`);
  else for (const { workspace, rule } of grants) process.stdout.write(`${harmless(`${rule}  ${workspace}`)}\n`);
}

function elsewhere(workspace: string): string {
  return `No permission is kept for ${workspace}; --all lists those of every folder.`;
}
