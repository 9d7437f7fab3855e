/** The Wayland Core dialect, protocol 0.2.0: aionrs, and what Wayland says beyond it. */
import { dialectOf } from "../aionrs/index.js";
import { laterCoverage } from "../aionrs/coverage.js";
import { SECOND } from "../aionrs/wire/revision.js";
import type { Dialect } from "../dialect.js";
import { hears } from "./host/read-events.js";
import { says } from "./agent/write-events.js";
import { Command, commands, events, SWITCHES, WireEvent } from "./wire.js";

export const wayland: Dialect = dialectOf({
  ...SECOND,
  id: "wayland",
  name: "Wayland Core",
  wire: { op: Command, event: WireEvent },
  coverage: {
    ...laterCoverage,
    "tool.requested": "exact",
    "tool.progress": { only: ["streaming_tools"] },
  },
  // Wayland's own host asks every half minute, and gives up after three questions without an answer.
  heartbeat: { every: 30, within: 90 },
  commands,
  events,
  modes: { default: "default", auto_edit: "auto_edit", yolo: "force" },
  quits: true,
  switches: SWITCHES,
  says,
  hears,
});
