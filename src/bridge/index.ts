/** `agent-parley/bridge`: any agent that can be started by a command line, one turn at a time, for programs that talk to people. */
export { checkProfile, type Checked } from "./check.js";
export type { Env } from "./turn/environment.js";
export type { Place } from "./turn/prepare.js";
export { loadProfile, parseProfile, type LoadedProfile, type ProfileSource } from "./profile/file.js";
export type { Profile, Wire } from "./profile/profile.js";
export { findProfile, readyMade, readyMadeNames } from "./profile/ready-made.js";
export { createRunner, type RunnerOptions } from "./turn/runner.js";
export type { Attachment, BridgeTurn, PermissionAnswer, PermissionRequest, Runner, TurnEvents, TurnResult } from "./turn/turn.js";
export type { PlatformContext } from "./platforms/kind.js";
export type { MakePlatform } from "./platforms/module.js";
export type { Delivery, Inbox, Incoming, Outgoing, Platform, PlatformLimits, Verdict } from "./platforms/platform.js";
export { startBridge, type RunningBridge, type ServeOptions } from "./serve/bridge.js";
export { loadBridgeConfig, type BridgeConfig, type BridgeLimits, type PlatformConfig } from "./serve/config.js";
