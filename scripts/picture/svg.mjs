// The cells of a terminal's screen as an SVG: a window with a title, and each run of cells that look alike as one text.

const CELL = { width: 8.4, height: 18 };
const MARGIN = 16;
const BAR = 42;
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";
const PAPER = "#161b22";
const INK = "#d5dbe3";
/** The colours that the chat asks for by number, in the order of terminals. */
const PALETTE = ["#484f58", "#ff7b72", "#56d364", "#e3b341", "#6cb6ff", "#d2a8ff", "#56d4dd", "#d5dbe3"];
const BRIGHT = ["#8b949e", "#ffa198", "#7ee787", "#f2cc60", "#96d0ff", "#e2c5ff", "#76e3ea", "#ffffff"];

export function svgOf(rows, columns, title) {
  const drawn = withoutEmptyEnds(rows);
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = BAR + drawn.length * CELL.height + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9" fill="${PAPER}" stroke="#30363d"/>
${["#ff5f57", "#febc2e", "#28c840"].map((fill, at) => `<circle cx="${20 + 20 * at}" cy="18" r="6" fill="${fill}"/>`).join("")}
<g font-family="${FONT}" font-size="14" fill="${INK}" xml:space="preserve">
<text x="${width / 2}" y="23" text-anchor="middle" font-size="13" fill="#8b949e">${escaped(title)}</text>
${drawn
  .map((cells, y) => rowOf(cells, y))
  .filter(Boolean)
  .join("\n")}
</g>
</svg>
`;
}

function withoutEmptyEnds(rows) {
  const isFull = (cells) => cells.some(({ text, isInverse }) => text !== " " || isInverse);
  return rows.slice(rows.findIndex(isFull), rows.findLastIndex(isFull) + 1);
}

function rowOf(cells, y) {
  return runsOf(cells)
    .map((run) => runAt(run, y))
    .join("");
}

/** Cells that look alike, one behind the other, with their place. */
function runsOf(cells) {
  const runs = [];
  let x = 0;
  for (const { text, width, ...look } of cells) {
    const last = runs.at(-1);
    if (last !== undefined && lookOf(last) === JSON.stringify(look)) {
      last.text += text;
      last.width += width;
    } else runs.push({ ...look, text, width, x });
    x += width;
  }
  return runs;
}

function lookOf({ text: _text, width: _width, x: _x, ...look }) {
  return JSON.stringify(look);
}

/** Blanks at the ends need no text. The length is said, so that rows stay straight in whichever font there is. */
function runAt({ text, width, x, colour, isBold, isItalic, isUnderlined, isInverse }, y) {
  const top = BAR + y * CELL.height;
  const ink = colour === undefined ? undefined : colour < 8 ? PALETTE[colour] : BRIGHT[colour - 8];
  const box = isInverse
    ? `<rect x="${at(x)}" y="${top}" width="${round(width * CELL.width)}" height="${CELL.height}" fill="${ink ?? INK}"/>`
    : "";
  const shown = isUnderlined ? text : text.trim();
  if (shown.trim() === "") return box;
  const before = isUnderlined ? 0 : text.length - text.trimStart().length;
  const cells = width - (text.length - shown.length);
  const looks = [
    ...(isInverse ? [`fill="${PAPER}"`] : ink === undefined ? [] : [`fill="${ink}"`]),
    ...(isBold ? ['font-weight="bold"'] : []),
    ...(isItalic ? ['font-style="italic"'] : []),
    ...(isUnderlined ? ['text-decoration="underline"'] : []),
  ];
  const place = `x="${at(x + before)}" y="${top + 13.5}" textLength="${round(cells * CELL.width)}"`;
  return `${box}<text ${[place, ...looks].join(" ")}>${escaped(shown)}</text>`;
}

function at(column) {
  return round(MARGIN + column * CELL.width);
}

function round(number) {
  return Number(number.toFixed(1));
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
