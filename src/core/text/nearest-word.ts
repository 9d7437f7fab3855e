/** Finds the known word that a mistyped word stands for. */

/** Undefined if no known word is near. Case and the separators `_` and `-` do not count. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const plain = simplified(word);
  const furthest = Math.max(1, Math.floor(word.length / 3));
  const ranked = known
    // A word whose length differs by more cannot be near; skipping it avoids the slow comparison.
    .filter((candidate) => Math.abs(simplified(candidate).length - plain.length) <= furthest)
    .map((candidate) => ({
      candidate,
      distance: editDistance(plain, simplified(candidate)),
      // Of two equally near words, the one of the same length wins: a wrong letter is likelier than an extra one.
      lengths: Math.abs(candidate.length - word.length),
    }))
    .toSorted((a, b) => a.distance - b.distance || a.lengths - b.lengths);
  const best = ranked[0];
  return best !== undefined && best.distance <= furthest ? best.candidate : undefined;
}

function simplified(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, "");
}

/** The number of letters to insert, drop, replace or swap with a neighbour. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(beforeLast, j - 2) + 1 : Infinity;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
