// The functions that send single requests and follow runs.
export * from "./client.ts";
export * from "./connectionSlots.ts";
export * from "./conversations.ts";
export * from "./errors.ts";
export * from "./files.ts";
export type { Connection, FollowEnd, FollowOptions } from "./followRun.ts";
export * from "./idempotencyKeys.ts";
export * from "./models.ts";
export { checkedEvent, parseEvent } from "./parseEvent.ts";
export * from "./runList.ts";
export { expectRun, fetchRun, parseRecord } from "./runRecords.ts";
export * from "./runReports.ts";
export * from "./runStream.ts";
export * from "./savedRuns.ts";
export * from "./sleep.ts";
export * from "./spend.ts";
export * from "./sseFrames.ts";
export * from "./variants.ts";
