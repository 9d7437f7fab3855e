/** How speech is cut into streamed pieces: word by word, as told, or (with a seed) at places that no host should rely on. */
import type { Speech } from "./response.js";

export function* pieces(speech: Speech, seed: number | undefined): Generator<string> {
  if (typeof speech === "string") {
    yield* seed === undefined ? words(speech) : scattered(speech, seed);
    return;
  }
  if ("piece" in speech) {
    for (let sent = 0; sent < speech.times; sent++) yield speech.piece;
    return;
  }
  yield* speech;
}

const WORD = /\s*\S+(?:\s+$)?|\s+$/g;

function* words(text: string): Generator<string> {
  for (const match of text.matchAll(WORD)) yield match[0];
}

/** Pieces of 1 to 12 characters, the same for the same seed and text; a character is never split in two. */
function* scattered(text: string, seed: number): Generator<string> {
  const random = randomFrom(seed);
  let piece = "";
  let left = 1 + random(12);
  for (const character of text) {
    piece += character;
    if (--left > 0) continue;
    yield piece;
    piece = "";
    left = 1 + random(12);
  }
  if (piece !== "") yield piece;
}

/** Mulberry32: small, and the same on every machine. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
