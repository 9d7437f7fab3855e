/** The version that the command tells. */
export { VERSION } from "../core/version.js";
