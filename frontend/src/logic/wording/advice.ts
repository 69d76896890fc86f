// Advice about failures and warnings. The first screen does not need it.
import type { CallItem, RunEnd, RunTrace } from "../../types/models.ts";
import { answerText } from "../answer/stops.ts";
import { cost, count, plural } from "./statusAndAmounts.ts";

/** The buttons of the error box. */
export type Fix = "continue" | "retry" | "model" | "unknown" | "credits" | "token" | "new";

interface Advice {
  sentence: string;
  fixes: readonly Fix[];
  /** The provider rejected the request before it did any work. */
  free?: true;
}

const advice = (sentence: string, ...fixes: Fix[]): Advice => ({ sentence, fixes });
const free = (sentence: string, ...fixes: Fix[]): Advice => ({ sentence, fixes, free: true });

/** What the user can do about an ending or a rejected request, by code. */
export const ADVICE: Readonly<Record<string, Advice>> = {
  CONNECTION_LOST: advice("Reload the page to get the rest, or retry.", "retry"),
  SERVER_UNREACHABLE: advice("Check that Signalbox is running, then retry. Your message is sent only once.", "retry"),
  FOREIGN_ANSWER: advice("Your network may need a sign-in. Sign in, then retry.", "retry"),
  PAGE_ERROR: advice("Reload the page, then retry.", "retry"),
  BAD_ANSWER: advice("Check that this is the address of Signalbox, then retry.", "retry"),

  UPSTREAM_AUTH: free("Check OPENROUTER_API_KEY in the server's .env."),
  UPSTREAM_CREDITS: free("Add credits to the OpenRouter account or choose a cheaper model.", "credits", "model"),
  UPSTREAM_FORBIDDEN: free("Check the permissions of the API key or rephrase your message.", "model"),
  UPSTREAM_NOT_FOUND: free("Choose a model from the list.", "unknown"),
  UPSTREAM_NO_TOOLS: free("Choose a model that supports tools or turn tools off in Settings.", "model"),
  UPSTREAM_NO_IMAGES: free("Choose a model that supports images.", "model"),
  UPSTREAM_NO_PARAMS: free("Reset parameters in Settings or choose another model.", "model"),
  UPSTREAM_SIGNATURE: advice("Retry or choose another model.", "retry", "model"),
  UPSTREAM_REJECTED: free("Change your message or choose another model.", "model"),
  UPSTREAM_TOO_LARGE: free("Shorten your message or start a new chat."),
  CONTEXT_LENGTH_EXCEEDED: free("Start a new chat or choose a model with a larger context window.", "model"),
  RATE_LIMIT: free("Wait a moment, then retry.", "retry", "model"),
  UPSTREAM_OVERLOADED: free("Retry or choose another model.", "retry", "model"),
  UPSTREAM_ERROR: advice("Retry or choose another model.", "retry", "model"),
  UPSTREAM_TIMEOUT: advice("Retry or choose another model.", "retry", "model"),
  UPSTREAM_STALLED: advice("Retry or choose another model.", "retry", "model"),
  UPSTREAM_UNREACHABLE: free("Check the server's network, then retry.", "retry"),
  UPSTREAM_PROTOCOL: advice("Retry or choose another model.", "retry", "model"),
  STREAM_CUT: advice("Retry.", "retry"),
  EMPTY_ANSWER: advice("Retry or choose another model.", "retry", "model"),
  MALFORMED_CALL: advice("Retry or choose another model.", "retry", "model"),
  LENGTH: advice("Continue the answer where it stopped.", "continue"),
  REASONING_LENGTH: advice("Choose a lower reasoning effort or another model.", "retry", "model"),
  TURN_PAUSED: advice("Continue the answer where it stopped.", "continue"),
  STOP_UNKNOWN: advice("Continue the answer or choose another model.", "continue", "model"),
  CONTENT_FILTER: advice("Rephrase your message or choose another model.", "model"),
  DETACHED_TIMEOUT: advice("Retry and keep this page open until the answer is complete.", "retry"),
  SERVER_SHUTDOWN: advice("Retry once the server is back.", "retry"),
  SERVER_CRASH: advice("Continue the answer or retry.", "continue", "retry"),
  BUDGET_REACHED: advice("Continue the answer or choose a cheaper model.", "continue", "model"),
  RUN_TOO_LARGE: advice("Continue the answer where it stopped.", "continue"),
  INTERNAL: advice("Retry. If it happens again, look for the run ID in the server log.", "retry"),

  INVALID_JSON: free("Reload the page. The server may have been updated."),
  INVALID_REQUEST: free("Change the field named above, then send again."),
  UNKNOWN_FIELD: free("Reload the page. The server may have been updated."),
  UNKNOWN_MODEL: free("Choose a model from the list.", "unknown"),
  UNKNOWN_TOOL: free("Turn that tool off in Settings, then send again."),
  UNKNOWN_RUN: free("It may have been deleted. Retry to send your message again.", "retry"),
  UNKNOWN_CONVERSATION: free("Start a new chat to send it.", "new"),
  UNKNOWN_MESSAGE: free("Start a new chat to send it.", "new"),
  UNKNOWN_SAVE: free("It may have been deleted."),
  UNKNOWN_FILE: free("It may have been deleted. Open the list of files."),
  UNKNOWN_TOKEN: free("It does not exist. Open the list of tokens."),
  TOKEN_REVOKED: free("Create a new token."),
  UNKNOWN_GROUP: free("It may have been deleted. Open the list of groups."),
  UNKNOWN_WEBHOOK: free("It may have been deleted. Open the list of webhooks."),
  UNKNOWN_SESSION: free("It may have ended. Open the list of sessions."),
  FILE_CHANGED: free("Open the newest version, then change it again."),
  FILE_LIMIT: free("Delete files you no longer need or save a smaller one."),
  KEY_REUSED: free("Retry.", "retry"),
  RUN_NOT_OVER: free("Wait until it finishes or stop it."),
  RUN_IN_CONVERSATION: free("Delete the conversation to delete this too."),
  STORE_UNAVAILABLE: free("Try again in a moment. The server log has the cause.", "retry"),
  BODY_TOO_LARGE: free("Send fewer or smaller images."),
  TOO_MUCH_AT_ONCE: free("Wait until another answer finishes, then retry.", "retry"),
  TOO_MANY_RUNS: free("Wait until another answer finishes, then retry.", "retry"),
  TOO_MANY_STREAMS: free("Close another tab of this chat, then retry.", "retry"),
  BUDGET_EXHAUSTED: free("Wait until the budget begins anew or ask the operator for more.", "model"),
  MODEL_NOT_ALLOWED: free("Choose another model.", "model"),
  TOOL_NOT_ALLOWED: free("Turn that tool off in Settings, then send again."),
  TOO_MANY_QUESTIONS: free("Wait a moment, then retry.", "retry"),
  WORKER_SILENT: free("Try again in a moment.", "retry"),
  NOT_FOUND: free("Reload the page. The server may have been updated."),
  METHOD_NOT_ALLOWED: free("Reload the page. The server may have been updated."),
  UNAUTHORIZED: free("Sign in or enter the access token.", "token"),
  TOKENS_DIFFER: free("Check what the proxy adds to requests: one of two tokens has to go."),
  HOST_NOT_ALLOWED: free("Add this address to SIGNALBOX_ALLOWED_HOSTS."),
  ORIGIN_NOT_ALLOWED: free("Add this page's address to SIGNALBOX_ALLOWED_ORIGINS."),
  CSRF: free("Reload the page, then send again."),
  SIGN_IN_FAILED: free("Sign in again.", "token"),
  SIGN_IN_UNAVAILABLE: free("Try again in a moment.", "retry"),
  SHUTTING_DOWN: free("Try again in a moment.", "retry"),
};

/** The best next step, as a sentence. */
export const adviceOf = (end: RunEnd): string => {
  if (end.retry_after !== undefined && end.retry_after >= 1) {
    const wait = waitText(end.retry_after);
    return end.retryable === false ? `Choose another model or retry in ${wait}.` : `Wait ${wait}, then retry.`;
  }
  return (
    ADVICE[end.code ?? ""]?.sentence ??
    (end.retryable === false ? "Change your message or choose another model." : "Retry.")
  );
};

/** 42 seconds, 12 minutes, 5 hours. Rounded up. */
export const waitText = (seconds: number): string => {
  if (seconds <= 120) return plural(Math.ceil(seconds), "second");
  return seconds <= 7200 ? plural(Math.ceil(seconds / 60), "minute") : plural(Math.ceil(seconds / 3600), "hour");
};

/** The buttons for an ending. Unknown endings can be retried. */
export const fixesOf = (end: RunEnd): readonly Fix[] => {
  const known = ADVICE[end.code ?? ""]?.fixes ?? (end.retryable === false ? ["model"] : ["retry", "model"]);
  if (end.retryable === true && !known.includes("retry")) return ["retry", ...known];
  return end.retryable === false ? known.filter((fix) => fix !== "retry") : known;
};

/** Sentences on what was saved of the whole answer, and what its last run cost. */
export function lossOf(whole: RunTrace, end: RunEnd, last = whole): string {
  return `${savedText(whole, end)} ${billedText(last, end)}`.trim();
}

/** What was saved. If the page itself ended the answer, it does not know what the server has. */
function savedText(trace: RunTrace, end: RunEnd): string {
  const { text = "", reasoning = "" } = trace.unsaved ?? {};
  if (text.length === 1) return "The last character you saw was not saved.";
  if (text) return `The last ${count(text.length)} characters you saw were not saved.`;
  if (reasoning) return "The last part of the reasoning was not saved.";
  if (!answerText(trace)) return end.local ? "Your message is still here." : "Your message is saved.";
  return end.local ? "The answer may continue on the server." : "The answer so far is saved.";
}

/** The page could not reach the server, so it does not know the cost. */
const UNHEARD: readonly string[] = ["CONNECTION_LOST", "SERVER_UNREACHABLE", "FOREIGN_ANSWER"];

function billedText(trace: RunTrace, end: RunEnd): string {
  if (end.local && UNHEARD.includes(end.code ?? "")) return "";
  if (end.simulated) return "It was simulated, so nothing was charged.";
  if (end.cost !== undefined && end.cost > 0)
    return `It cost ${end.cost_estimated ? "at least " : ""}${cost(end.cost)}.`;
  const began = trace.items.some((item) => item.kind !== "warning");
  if (!began && (ADVICE[end.code ?? ""]?.free || end.cost === 0)) return "Nothing was charged.";
  return end.cost === 0 ? "Nothing was charged." : "The cost is not known yet.";
}

/** Short reasons for a call without result. The result's own error text is written for the model. */
export const CALL_FAILURES: Readonly<Record<string, string>> = {
  INVALID_ARGUMENTS: "invalid input from the model",
  ARGUMENTS_CUT: "the model's request was cut off",
  TOOL_UNAVAILABLE: "not set up on this server",
  TOOL_FAILED: "failed",
  TIMEOUT: "took too long",
  DENIED: "refused",
  URL_NOT_FOUND_HERE: "address not mentioned in this chat",
  TOOL_CLAMP: "skipped: limit reached",
  SUPERSEDED: "skipped: replaced by the model",
  STEP_FAILED: "discarded: the step failed",
  CANCELLED: "stopped",
  NOT_RECORDED: "not in the replayed run",
  UNKNOWN_TOOL: "unknown tool",
  FILE_LIMIT: "limit of files reached",
  RATE_LIMIT: "too many requests",
};

/** The short reason. The whole sentence is `call.error`. */
export const failureOf = (call: CallItem): string =>
  CALL_FAILURES[call.code ?? ""] ?? (call.status === "cancelled" ? "stopped" : "failed");

/** Texts for warnings that come without a message. */
export const WARNINGS: Readonly<Record<string, string>> = {
  TOOL_CLAMP: "The search limit for one answer was reached.",
  FINAL_EMPTY: "The model gave no final answer.",
  MAX_STEPS: "The step limit was reached.",
  TURN_LIMIT: "The step limit was reached. The files of the last step are saved.",
  PARAM_DROPPED: "A setting was not used because the provider does not support it.",
  FRAME_UNREADABLE: "Part of the provider's response could not be read.",
  CONTEXT_TRIMMED: "The oldest messages were left out because the chat is longer than the model's context window.",
  TOOLS_DROPPED: "The model does not support tools, so it answered without them.",
  OUTPUT_DROPPED: "Part of the answer was left out.",
  CONTENT_DROPPED: "The model or its provider does not support images, so they were left out.",
  CREDIT_CLAMP: "The account has too few credits for a longer answer.",
  UPSTREAM_FALLBACK: "Another server answered with the same model.",
  MORE_ROOM: "The request was repeated with a higher limit for the answer.",
};
