/** What scrolled away is the user's: the chat neither clears it nor prints it over and over. */
import { describe, expect, it } from "vitest";
import { shellLine } from "../process/terminal.js";
import { script, until } from "../process/harness.js";
import { bash, Chat, chatInShell, CTRL_O, CTRL_Z, hasTerminal } from "./chat.js";

const BIRDS = ["heron", "egret", "stork"];
const linesOf = (bird: string): string[] => Array.from({ length: 15 }, (_, at) => `${bird} ${at} says`);
const LINES = BIRDS.flatMap(linesOf);
const ANSWERS = BIRDS.map((bird) => ({
  say: linesOf(bird)
    .map((line) => `${line} ${"word ".repeat(12)}`)
    .join("\n\n"),
}));

const SIZE = { columns: 100, rows: 24 };
const SIZES = [
  [60, 24],
  [100, 24],
  [100, 12],
  [100, 40],
  [45, 20],
  [120, 30],
] as const;
/** The chat draws all of its window. */
const WHOLE_WINDOW = "\u001b[?2026h\u001b[H";

/** The chat, below the output of another program. */
function behindOthers(responses: unknown[], ...args: string[]): string {
  const command = shellLine(["--provider", "rehearsal", "--model", script(responses), ...args]);
  return `sh -c "seq -f 'before %g' 50; exec ${command.replaceAll("'", "")}"`;
}

/** With more answers than fit into the window. */
async function longChat(): Promise<Chat> {
  const talk = new Chat(behindOthers(ANSWERS), { size: SIZE });
  for (const bird of BIRDS) {
    await talk.enter(`go ${bird}`);
    await talk.shows(`> go ${bird}`, `${bird} 14 says`, "tokens in");
  }
  return talk;
}

const missing = (talk: Chat): string[] => LINES.filter((line) => !talk.text.includes(line));

/** Resolves when the window was drawn anew for this size. */
async function resized(talk: Chat, columns: number, rows: number): Promise<void> {
  const frames = (): number => talk.pty.raw.split(WHOLE_WINDOW).length;
  const before = frames();
  talk.resize({ columns, rows });
  await until(() => frames() > before);
  await talk.shows(`${"─".repeat(columns)}\n`, "default · rehearsal");
  await talk.screen.drawn();
}

describe.skipIf(!hasTerminal)("what scrolled away", () => {
  it("stays when the window gets another size, and is not printed again each time", async () => {
    const talk = await longChat();
    for (const [columns, rows] of SIZES) {
      await resized(talk, columns, rows);
      expect(talk.text).toContain("before 1\nbefore 2\n");
      expect(missing(talk)).toEqual([]);
    }
    const times = LINES.map((line) => talk.text.split(line).length - 1);
    expect(Math.max(...times)).toBeLessThanOrEqual(1 + SIZES.length);
    expect(times[0]).toBe(1);
    await talk.leave();
  });

  it("stays when what is above the window changes", async () => {
    const rows = Array.from({ length: 40 }, (_, at) => `| ${"x".repeat(at + 1)} | row ${at} |\n`);
    const talk = new Chat(behindOthers([{ say: { pieces: ["| a | b |\n|---|---|\n", ...rows] } }, { say: "Done." }]), { size: SIZE });
    await talk.enter("go");
    await talk.shows("row 0", "row 39", "tokens in");
    expect(talk.text).toContain("before 1\nbefore 2\n");
    await talk.leave();
  });

  it("stays when Ctrl-O shows all that is folded, above the window too", async () => {
    const call = bash("seq -f 'line %g' 60");
    const talk = new Chat(behindOthers([{ call }, ANSWERS[0], ANSWERS[1]], "--auto-approve"), { size: SIZE });
    await talk.enter("go");
    await talk.shows("line 60", "heron 14 says", "tokens in");
    expect(talk.text).not.toContain("line 30");
    await talk.press(CTRL_O);
    await talk.shows("before 1 before 2", "line 30", "heron 14 says");
    await talk.press(CTRL_O);
    await talk.enter("more");
    await talk.shows("before 1 before 2", "egret 14 says", "tokens in");
    await talk.leave();
  });

  it("and what a shell printed meanwhile stays when fg brings the chat back", async () => {
    const talk = await chatInShell("program", { responses: ANSWERS, size: SIZE });
    await talk.enter("go");
    await talk.shows("heron 14 says", "tokens in");
    talk.write(CTRL_Z);
    await talk.shows("Stopped");
    talk.write("seq -f 'between %g' 40\r");
    await talk.shows("between 40", "shell:");
    talk.write("fg\r");
    await talk.isReady(2);
    await talk.enter("more");
    await talk.shows(
      "shell:",
      "heron 0 says",
      "heron 14 says",
      "Stopped",
      "between 1 between 2",
      "between 40",
      "heron 14 says",
      "egret 14 says",
    );
    await talk.enter("/quit");
    await talk.shows("Go on later with");
    talk.write("exit 7\r");
    await talk.exits(7);
  });
});
