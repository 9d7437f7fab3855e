import type { Plugin } from "rolldown";

export const standIns: Plugin;
