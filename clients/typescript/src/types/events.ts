// Generated from the contract (backend/signalbox/core/events.py) by `just contract`. Do not edit.
// biome-ignore-all format: generated
// biome-ignore-all lint: generated

/**
 * One frame of the Signalbox contract v1.1. Unknown fields and types are growth.
 */
export type ChatEvent = Reasoning | Preview | ToolCalls | ToolExecuting | ToolResult | Content | Warning | Done;

/**
 * A piece of the model's reasoning. If `hidden` is true, the provider does not show the text of the reasoning.
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
 * The next piece of a string argument of a call, while the model still writes the call.
 *
 * Only runs that asked for previews emit it. `id` is the id under which the call is announced later. `key` is the JSON
 * Pointer of the argument, such as `/content`; without a `key`, it is that of the call's last preview. The first
 * preview of a call has its `name` and `step`. The pieces of one argument, joined, are a beginning of its value.
 *
 * If `withdrawn` is true, there is no text, and what was previewed of this call is not valid: the upstream request is
 * retried, or the complete call turned out otherwise. Each previewed call is later announced or withdrawn.
 */
export interface Preview {
  type: "preview";
  id: string;
  name?: string;
  key?: string;
  text?: string;
  step?: number;
  withdrawn?: true;
  v?: string;
  run_id?: string;
  loop?: "legacy" | "v2";
}
/**
 * Announces tool calls. Each call later gets exactly one tool_result, unless the client executes the call.
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
 * `arguments` is JSON text: the object that the tool receives. If the model sent no JSON object, it is the text that
 * the model sent (the first 2,000 characters), and the call's result is a failure.
 *
 * `previewed` is only in runs that asked for previews. It contains the string arguments that the call's previews have
 * sent completely: the JSON Pointer of each, and its number of characters. In frames, these strings are empty in
 * `arguments`.
 */
export interface Call {
  id: string;
  name: string;
  arguments: string;
  category: "other" | "search" | "utility";
  visibility: "hidden" | "primary" | "secondary";
  previewed?: {
    [k: string]: unknown;
  };
}
/**
 * An announced call starts to run.
 *
 * Some calls never run and have no such event: searches beyond the search limit, cached calls and invalid calls.
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
 * The only result of an announced call: a Success or a Failure.
 *
 * If `cached` is true, the result of an earlier equal search was reused. `artifact` is for people, for example a
 * DataTable. The model does not get the artifact. A reused result has no artifact, because the first result contained
 * the artifact.
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
  artifact?: unknown;
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
 * If `refusal` is true, the text is a refusal. If `synthetic` is true, Signalbox wrote the text because the model gave
 * no answer. If an event has `sources` or `images`, its `content` is empty. The event is sent where the sources or
 * images belong in the text. Only an event with `sources` has `step`. The offsets of the sources are positions in the
 * text of this step.
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
 * `n` is its number in the run, the same as in search results. `start_index` and `end_index` are offsets in the text
 * of its step, if the provider sends them.
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
 * An image of the answer: a `data:image/…` URL (base64), or an https URL, loaded only if the user agrees.
 */
export interface Image {
  url: string;
}
/**
 * A warning for the user. If a run ends neither complete nor cancelled, a warning directly precedes `done`.
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
 * The last event of every run. `cost` is in USD. `retry_after` is in seconds. `steps` is the number of model calls.
 *
 * `duration_ms` is the time from the start of the run to its end. `first_token_ms` is the time from the start of the
 * run to the first part from the model. `handed` contains the ids of the calls that the client executes. These calls
 * have no tool_result. `unsaved` is set only after a server crash. If the server has several upstreams, `upstream` is
 * the name of the upstream that answered.
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
  upstream?: string;
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
