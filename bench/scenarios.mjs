/** The scenarios that a prompt names to the scripted model. The server plays it, the runner checks what arrived against it. */

/** The file that "tools read" reads, relative to the workspace. */
export const NOTES = "notes.txt";

/**
 * "text COUNT SIZE [GAP]": COUNT deltas of SIZE characters, GAP milliseconds apart (0: as one burst).
 * "tools read|bash ROUNDS": that many responses of one call each, then a short text.
 */
export function parseScenario(prompt) {
  const [kind, ...words] = prompt.split(" ");
  if (kind === "text") {
    const [count, size, gap = 0] = words.map(Number);
    return { pieces: piecesOf(count, size), gap, tool: undefined, rounds: 0 };
  }
  if (kind === "tools") {
    const tool = TOOLS[words[0]];
    if (tool !== undefined) return { pieces: piecesOf(2, 20), gap: 0, tool, rounds: Number(words[1]) };
  }
  throw new Error(`There is no scenario '${prompt}'`);
}

const TOOLS = {
  read: { name: "Read", args: { file_path: NOTES } },
  bash: { name: "Bash", args: { command: "echo hi" } },
};

export const NOTES_LINES = Array.from({ length: 50 }, (_, index) => `Line ${index + 1} of a file that is neither short nor long.`);

/** The answer that each tool must have given. */
export const EXPECTED_OUTPUT = {
  Read: NOTES_LINES.map((line, index) => `${String(index + 1).padStart(6)}\t${line}`).join("\n"),
  Bash: "Exit code: 0\nSTDOUT:\nhi",
};

/** No two neighbours are equal, so that a lost, doubled or swapped delta shows; every tenth ends a line. */
function piecesOf(count, size) {
  return Array.from({ length: count }, (_, index) => {
    const piece = `${index} `.padEnd(size, "lorem ipsum dolor sit amet ").slice(0, size);
    return index % 10 === 9 ? `${piece.slice(0, -1)}\n` : piece;
  });
}
