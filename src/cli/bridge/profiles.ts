/** `parley bridge profiles`: the profiles of the package. */
import { checkProfile, readyMade, readyMadeNames, type Place } from "../../bridge/index.js";
import { protocolOf } from "../../bridge/protocol.js";

export async function listProfiles(asJson: boolean, place: Place): Promise<number> {
  const rows = await Promise.all(
    (await readyMadeNames()).map(async (name) => {
      const { profile } = await readyMade(name);
      const { program } = await checkProfile(profile, place);
      const { description } = profile;
      return { name, description, protocol: protocolOf(profile), ...(program !== undefined && { program }) };
    }),
  );
  if (asJson) {
    for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
    return 0;
  }
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const { name, description, program } of rows) {
    process.stdout.write(`${name.padEnd(width)}  ${description} ${program === undefined ? "(not found here)" : `(${program})`}\n`);
  }
  return 0;
}
