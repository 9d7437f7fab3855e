/** The user's words through compactions, as each vendor's server gets them. */
import { expect, test } from "vitest";
import { talk, VENDORS } from "../providers/harness.js";
import type { Reply } from "../support/model-server.js";

const LIMIT = 20_000;
const TASK = `Rename every Widget to Gadget; the last word of this task is ${"abcdefghij ".repeat(500)}omega.`;
/** Each answer fills half of the window: from the second on, every answer is followed by a compaction. */
const used = (nth: number) => ({ input: nth === 1 ? 2000 : 9000, output: 6500 });
const sums = (text: string): Reply => ({ text: [text], usage: { input: 100, output: 10 } });

/** An answer with a call, so that the turn goes on. */
function busy(nth: number): Reply {
  return {
    text: [`${nth} ${"word ".repeat(5200)}`],
    calls: [{ id: `call_${nth}_0123456789`, name: "Read", args: { file_path: `note${nth}.txt` } }],
    usage: used(nth),
  };
}

test.each(Object.values(VENDORS))(
  "$name: after three compactions in one turn the model still has the task, word for word",
  async (vendor) => {
    const files = Object.fromEntries([1, 2, 3, 4].map((nth) => [`note${nth}.txt`, `note ${nth}\n`]));
    const summed = [2, 3, 4].flatMap((nth) => [busy(nth), sums(`Summary ${nth}.`)]);
    const host = await talk(vendor, [busy(1), ...summed, { text: ["Done."] }], { files, config: { contextLimit: LIMIT } });
    expect(await host.turn(TASK)).toMatchObject({ outcome: "completed" });
    expect(host.texts("text.done").at(-1)).toBe("Done.");
    expect(host.of("compaction").flatMap(({ summary }) => summary ?? [])).toEqual(["Summary 2.", "Summary 3.", "Summary 4."]);
    const asked = JSON.stringify(host.body(8));
    expect(asked.split(TASK)).toHaveLength(2);
    expect(asked).toContain("Summary 4.");
    expect(asked).not.toContain("Summary 2.");
    expect(asked).toContain("note3.txt");
  },
);
