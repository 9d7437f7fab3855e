/** A tape as one self-contained page: the wire beside the ops and events. */
import type { Item, Tape } from "./tape.js";

const STYLE = `body{font:13px/1.4 system-ui,sans-serif;margin:1rem}table{border-collapse:collapse;width:100%;table-layout:fixed}
td,th{border-top:1px solid #ccc;padding:.2rem .4rem;vertical-align:top;text-align:left}pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
td:first-child,th:first-child{width:6rem}.in pre{color:#06c}.out pre{color:#363}.breach{background:#fdd}`;

export function page(tape: Tape): string {
  const { version, side, dialect, as, drive } = tape.start;
  const first = tape.items[0]?.at ?? 0;
  const title = `${dialect ?? `${as ?? "?"} to ${drive ?? "?"}`}, recorded at the ${side ?? "unknown"} side by Parley ${version ?? "?"}`;
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title><style>${STYLE}</style></head><body>`,
    `<h1>${escaped(title)}</h1><table><thead><tr><th>seconds</th><th>wire</th><th>ops and events</th></tr></thead><tbody>`,
    ...tape.items.map((item) => row(item, first)),
    "</tbody></table></body></html>\n",
  ].join("\n");
}

function row(item: Item, first: number): string {
  const time = `<td>${((item.at - first) / 1000).toFixed(3)}${item.conn === "" ? "" : `<br>${escaped(item.conn)}`}</td>`;
  if (item.kind === "breach") return `<tr class="breach">${time}<td colspan="2">${escaped(item.why)}</td></tr>`;
  if (item.kind === "op") return `<tr class="in">${time}<td></td><td><pre>${escaped(JSON.stringify(item.op))}</pre></td></tr>`;
  if (item.kind === "event") return `<tr class="out">${time}<td></td><td><pre>${escaped(JSON.stringify(item.event))}</pre></td></tr>`;
  const said = item.bad === undefined ? (item.text ?? JSON.stringify(item.rec ?? item.turn ?? "(end)")) : `${item.bad}\n${item.line ?? ""}`;
  const arrow = item.dir === "in" ? "→" : "←";
  return `<tr class="${item.bad === undefined ? item.dir : "breach"}">${time}<td><pre>${arrow} ${escaped(said)}</pre></td><td></td></tr>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
