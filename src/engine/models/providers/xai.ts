import { versioned } from "../access.js";
import type { Provider } from "./provider.js";

export const xai: Provider = {
  async load({ id, apiKey = "", address = "https://api.x.ai", headers }, fetch) {
    const [{ createXai }, { xaiWire }] = await Promise.all([import("@ai-sdk/xai"), import("../wires/xai.js")]);
    // Its chat completions take no arguments that come in pieces, and leave out a piece of reasoning that is like the one before it.
    return { model: createXai({ apiKey, baseURL: versioned(address), headers, fetch }).responses(id), wire: xaiWire };
  },
};
