// The package @signalbox/client: the class Signalbox, its errors, and the types of events and data.
export type { Answer, AnsweredCall, RunEvent } from "./answers.ts";
export type { CallOptions } from "./calls.ts";
export { Previews } from "./previews.ts";
export type { Catalog, ToolCatalog } from "./requests/models.ts";
export type { RunTrace } from "./requests/runRecords.ts";
export type { Save, SavedQuestion, SavedRun } from "./requests/savedRuns.ts";
export type { VariantError } from "./requests/variants.ts";
export type { Backoff } from "./retries.ts";
export type { Run, StoppedRun } from "./run.ts";
export {
  type AskOptions,
  type QuestionOptions,
  Signalbox,
  type SignalboxOptions,
  type VariantRun,
  type Variants,
} from "./signalbox.ts";
export {
  AccessDenied,
  Conflict,
  ConnectionLost,
  InvalidBaseUrl,
  InvalidRequest,
  NotFound,
  NotSignalbox,
  RateLimited,
  RequestRejected,
  RunFailed,
  ServerError,
  SignalboxError,
} from "./signalboxErrors.ts";
export type { Conversations } from "./stored/conversations.ts";
export type { ChangeOptions, Files } from "./stored/files.ts";
export type { Runs } from "./stored/runs.ts";
export type { Saves } from "./stored/saves.ts";
export type * from "./types/api.ts";
export type {
  Content,
  Done,
  Failure,
  Flag,
  Image,
  Preview,
  Reasoning,
  Source,
  Success,
  Unsaved,
  UsageTotals,
  Warning,
} from "./types/events.ts";
export type * from "./types/files.ts";
export type { Effort, Message, Question, ToolChoice, Variant, VariantsQuestion } from "./types/question.ts";
export type { Call, ChatEvent, ToolCalls, ToolExecuting, ToolResult, UnknownEvent } from "./types/receivedEvents.ts";
export type * from "./types/reports.ts";
