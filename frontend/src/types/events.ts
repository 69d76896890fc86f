// Generated from the contract (backend/signalbox/core/events.py) by `just contract`. Do not edit.
// biome-ignore-all format: generated
// biome-ignore-all lint: generated

/**
 * One frame of the Signalbox contract v1.1. Unknown fields and types are growth.
 */
export type ChatEvent = Reasoning | ToolCalls | ToolExecuting | ToolResult | Content | Warning | Done;

/**
 * A piece of the model's reasoning. `hidden`: the model reasons, but its host shows no words of it.
 */
export interface Reasoning {
  type: "reasoning";
  content: string;
  step?: number;
  hidden?: true;
  ts?: number;
  v?: string;
  run_id?: string;
  loop?: "legacy" | "v2";
}
/**
 * Calls are announced. Each id gets exactly one tool_result later.
 */
export interface ToolCalls {
  type: "tool_calls";
  calls: Call[];
  step?: number;
  ts?: number;
  v?: string;
  run_id?: string;
  loop?: "legacy" | "v2";
}
/**
 * One call as it is announced.
 *
 * `arguments` is JSON text: the object that the tool gets. Where the model sent no JSON object, it is what the model
 * sent (the first 2,000 characters), and the call's result is a failure.
 */
export interface Call {
  id: string;
  name: string;
  arguments: string;
  category: "other" | "search" | "utility";
  visibility: "hidden" | "primary" | "secondary";
}
/**
 * An announced call starts to run; a call that never runs (clamped, cached, invalid) skips this.
 */
export interface ToolExecuting {
  type: "tool_executing";
  id: string;
  name: string;
  category: "other" | "search" | "utility";
  visibility: "hidden" | "primary" | "secondary";
  step?: number;
  ts?: number;
  v?: string;
  run_id?: string;
  loop?: "legacy" | "v2";
}
/**
 * The one result of an announced call, a Success or a Failure. `cached`: an equal search was used again.
 */
export interface ToolResult {
  type: "tool_result";
  id: string;
  name: string;
  result: Success | Failure;
  category: "other" | "search" | "utility";
  visibility: "hidden" | "primary" | "secondary";
  cached?: true;
  step?: number;
  ts?: number;
  v?: string;
  run_id?: string;
  loop?: "legacy" | "v2";
}
/**
 * The tool's result, any JSON value.
 */
export interface Success {
  success: true;
  result: unknown;
}
/**
 * Why there is no result: a sentence and a code.
 */
export interface Failure {
  success: false;
  error: string;
  code: string;
}
/**
 * A piece of the answer.
 *
 * `refusal`: the words are a refusal. `synthetic`: the sentence is Signalbox's own, in place of a missing answer.
 * `sources` and `images` stand where they came between the words; `content` is empty then. `step` stands beside
 * `sources`: their places are in the text of that model call.
 */
export interface Content {
  type: "content";
  content: string;
  refusal?: true;
  synthetic?: true;
  sources?: Source[];
  images?: Image[];
  step?: number;
  v?: string;
  run_id?: string;
  loop?: "legacy" | "v2";
}
/**
 * A page that the model's provider cites.
 *
 * `n` is its number in the run, the same as in the results of searches. `start_index` and `end_index` are places in
 * the text of its step, where the provider tells them.
 */
export interface Source {
  n: number;
  url: string;
  title: string;
  snippet?: string;
  start_index?: number;
  end_index?: number;
}
/**
 * An image of the answer: a `data:image/…` URL (base64), or an https address not to be loaded unasked.
 */
export interface Image {
  url: string;
}
/**
 * Something the reader should know; every ending but complete and cancelled sends one just before `done`.
 */
export interface Warning {
  type: "warning";
  message: string;
  code?: string;
  step?: number;
  ts?: number;
  v?: string;
  run_id?: string;
  loop?: "legacy" | "v2";
}
/**
 * The one end of every run. `cost` is in USD, `retry_after` in seconds, `steps` counts model calls.
 *
 * `duration_ms` is from the run's start to its end by the server's clock, `first_token_ms` to the model's first part.
 * `handed` are the ids of the calls that the client executes; they have no tool_result. `unsaved` is set after a
 * server crash alone.
 */
export interface Done {
  type: "done";
  done: true;
  status: "cancelled" | "complete" | "content_filter" | "error" | "interrupted" | "length";
  error?: string;
  code?: string;
  retryable?: boolean;
  retry_after?: number;
  usage?: UsageTotals;
  cost?: number;
  cost_estimated?: true;
  requested_model?: string;
  model?: string;
  provider?: string;
  loop?: "legacy" | "v2";
  flag?: Flag;
  steps?: number;
  simulated?: true;
  duration_ms?: number;
  first_token_ms?: number;
  handed?: string[];
  unsaved?: Unsaved;
  ts?: number;
  v?: string;
  run_id?: string;
}
/**
 * Tokens summed over all model calls of the run.
 */
export interface UsageTotals {
  input: number;
  output: number;
  reasoning?: number;
  cached?: number;
}
/**
 * Why this loop drove the run, in OpenFeature's terms.
 */
export interface Flag {
  variant: string;
  reason: string;
}
/**
 * Events with `after` < seq < `before` may have been sent, but a crash lost them before they were on disk.
 */
export interface Unsaved {
  after: number;
  before: number;
}
