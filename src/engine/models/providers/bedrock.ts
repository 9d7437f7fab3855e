/** Amazon Bedrock. AWS's own packages are loaded only if needed. */
import type { Provider } from "./provider.js";

export const bedrock: Provider = {
  async check(access) {
    const { checkAws } = await import("../aws/check.js");
    return checkAws(access);
  },
  async load(access, fetch) {
    const { loadBedrock } = await import("../aws/bedrock.js");
    return loadBedrock(access, fetch);
  },
};
