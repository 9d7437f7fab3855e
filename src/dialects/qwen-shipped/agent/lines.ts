/** The lines of type `system`, each with its own data. */
import type { Out } from "../../dialect.js";
import { systemLine as anySystemLine, type Envelope } from "../../kit/stream-json/write-lines.js";
import type { SystemFields, SystemName } from "../wire/event-records.js";

export function systemLine<N extends SystemName>(subtype: N, data: SystemFields<N>, envelope: Envelope): Out {
  return anySystemLine(subtype, data, envelope);
}
