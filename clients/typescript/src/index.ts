// The types of the contract's events and of the API's data.
export type * from "./types/api.ts";
export type {
  Content,
  Done,
  Failure,
  Flag,
  Image,
  Reasoning,
  Source,
  Success,
  Unsaved,
  UsageTotals,
  Warning,
} from "./types/events.ts";
export type { Call, ChatEvent, ToolCalls, ToolExecuting, ToolResult } from "./types/receivedEvents.ts";
