/** What a session can do, derived from its model and its configuration. Hosts offer their users what is told here and nothing else. */
import { Mode, type SessionConfig } from "../core/config.js";
import type { Model } from "./models/model.js";

export function sessionCapabilities(model: Model, config: SessionConfig, hasExtensions: boolean): Record<string, unknown> {
  const { thinking, images, efforts, contextLimit, outputLimit } = model;
  return {
    modes: [...Mode.options],
    approvals: true,
    steering: true,
    mcp: hasExtensions,
    catalog: true,
    thinking,
    images: config.images ?? images,
    ...(efforts !== undefined && { efforts }),
    ...(contextLimit !== undefined && { contextLimit }),
    ...(outputLimit !== undefined && { outputLimit }),
  };
}
