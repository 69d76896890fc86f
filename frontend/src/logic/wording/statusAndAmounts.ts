// Short texts for endings, connection states, durations and amounts.
import type { RunEnd } from "../../types/models.ts";
import type { Lamp } from "../answer/stops.ts";

interface Ending {
  lamp: Lamp;
  /** Empty if the ending needs no label. */
  label: string;
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  complete: { lamp: "done", label: "" },
  cancelled: { lamp: "waiting", label: "Stopped" },
  interrupted: { lamp: "failed", label: "Interrupted" },
  error: { lamp: "failed", label: "Failed" },
  length: { lamp: "cut", label: "Length limit reached" },
  content_filter: { lamp: "failed", label: "Blocked by a content filter" },
};

/** Codes that are more specific than the status. */
const BY_CODE: Readonly<Record<string, Ending>> = {
  BUDGET_REACHED: { lamp: "cut", label: "Cost limit reached" },
  BUDGET_EXHAUSTED: { lamp: "cut", label: "Budget used up" },
  DETACHED_TIMEOUT: { lamp: "cut", label: "No client connected" },
  TURN_PAUSED: { lamp: "cut", label: "Paused by the provider" },
  RUN_TOO_LARGE: { lamp: "cut", label: "Size limit reached" },
  // There is no answer that could be continued.
  REASONING_LENGTH: { lamp: "failed", label: "Length limit reached" },
};

const DECLINED: Ending = { lamp: "waiting", label: "Declined by the model" };

/** The lamp and label of an ending. Unknown endings count as failures, as the contract requires. */
export const endingOf = ({ status, code, declined }: Pick<RunEnd, "status" | "code" | "declined">): Ending =>
  declined ? DECLINED : (BY_CODE[code ?? ""] ?? ENDINGS[status] ?? { lamp: "failed", label: `Ended: ${status}` });

/** Why the run used this loop, by OpenFeature reason. */
const REASONS: Readonly<Record<string, string>> = {
  STATIC: "set by the operator",
  SPLIT: "by percentage",
  TARGETING_MATCH: "requested",
  DISABLED: "kill switch",
  DEFAULT: "default",
  ERROR: "the flag provider failed",
};

const reasonText = ({ reason }: NonNullable<RunEnd["flag"]>): string => REASONS[reason] ?? reason.toLowerCase();

/** "loop v2, set by the operator". */
export const loopText = (loop: string | undefined, flag: RunEnd["flag"]): string => {
  if (!loop) return "";
  return flag ? `loop ${loop}, ${reasonText(flag)}` : `loop ${loop}`;
};

/** Whether the ending has an error box. */
export const isFailure = (end: RunEnd): boolean => isCut(end) || endingOf(end).lamp === "failed";

/** Whether a limit or a pause ended the answer. Nothing failed, and it can be continued. */
export const isCut = (end: RunEnd): boolean => endingOf(end).lamp === "cut";

const CONNECTIONS = {
  open: "",
  resuming: "Connection lost. Reconnecting…",
  polling: "Updated once a second, because four other answers are streaming.",
  waiting: "Signalbox can't be reached. Your message will be sent when the connection is back.",
} as const;

const OFFLINE: Readonly<Record<string, string>> = {
  resuming: "You're offline. The answer will continue when you're back online.",
  waiting: "You're offline. Your message will be sent when you're back online.",
};

const CONTINUED_LATER = "Signalbox can't be reached. The answer will continue when the connection is back.";

/** The text for a continuation that has not been sent yet. */
export const continuationText = (offline: boolean): string =>
  (offline ? OFFLINE.resuming : undefined) ?? CONTINUED_LATER;

/** The text for a connection state. Empty if it needs none. */
export const connectionText = (connection: keyof typeof CONNECTIONS, offline: boolean): string =>
  (offline ? OFFLINE[connection] : undefined) ?? CONNECTIONS[connection];

/** 340 ms, 9.4 s, 2 min 5 s. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** "Thought for 6 s": whole seconds, and "a moment" below one second. */
export const thoughtFor = (ms: number | undefined): string => {
  if (ms === undefined) return "Thought";
  if (ms < 1000) return "Thought for a moment";
  return ms < 59_500 ? `Thought for ${Math.round(ms / 1000)} s` : `Thought for ${duration(ms)}`;
};

/** $0.0041: enough digits to compare cheap runs. */
export function cost(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

/** The cost of a run. For a simulated run, what it would have cost. */
export const costText = (usd: number, { simulated, estimated }: { simulated: boolean; estimated: boolean }): string =>
  `${simulated ? "would cost " : ""}${estimated ? "about " : ""}${cost(usd)}`;

/** The paid cost of a conversation. If all answers were simulated, what they would have cost. Empty if zero. */
export function lineCost({ cost: usd = 0, paid = 0 }: { cost: number | undefined; paid: number | undefined }): string {
  const simulated = paid === 0;
  const shown = simulated ? usd : paid;
  return shown > 0 ? costText(shown, { simulated, estimated: false }) : "";
}

export const count = (n: number): string => n.toLocaleString("en-US");

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;
