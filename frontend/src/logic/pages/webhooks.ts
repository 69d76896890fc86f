// The texts of webhooks and their deliveries.
import type { Attempt, Delivery, Webhook } from "../../types/webhooks.ts";
import type { Lamp } from "../answer/stops.ts";
import { duration, plural } from "../wording/statusAndAmounts.ts";

/** The kinds of events that a receiver can get, and when they are sent. */
export const EVENT_KINDS = [
  { kind: "run.ended", words: "A run ended that no client waits for" },
  { kind: "rollout.promoted", words: "A rollout reached its next stage" },
  { kind: "rollout.finished", words: "A rollout passed its last stage" },
  { kind: "rollout.stepped_back", words: "V2 became worse at 100%, so the guard compares the loops again" },
  { kind: "rollout.rolled_back", words: "The guard set a rollout back" },
  { kind: "rollout.regression", words: "V2 is worse than legacy, in the mode Observe" },
] as const;

interface Status {
  lamp: Lamp;
  words: string;
}

export function webhookStatus({ isActive, disabled }: Webhook): Status {
  if (isActive) return { lamp: "done", words: "Active" };
  if (disabled === "GONE") return { lamp: "failed", words: "Switched off: the receiver answered 410 (gone)" };
  return { lamp: "waiting", words: disabled ? `Switched off: ${disabled}` : "Paused" };
}

const STATES: Record<Delivery["state"], Status> = {
  pending: { lamp: "running", words: "Pending" },
  delivered: { lamp: "done", words: "Delivered" },
  failed: { lamp: "failed", words: "Failed" },
};

/** "Delivered", "Pending, next attempt at …". */
export function deliveryStatus({ state, nextAttempt }: Delivery): Status {
  const { lamp, words } = STATES[state];
  if (state !== "pending" || nextAttempt === undefined) return { lamp, words };
  return { lamp, words: `${words}, next attempt at ${new Date(nextAttempt).toLocaleTimeString()}` };
}

const ERRORS: Readonly<Record<string, string>> = {
  // The status says it.
  HTTP_STATUS: "",
  REDIRECT: "redirects are not followed",
  GONE: "the receiver wants no more events",
  TIMEOUT: "no response within 15 seconds",
  UNREACHABLE: "the host does not exist or refuses the connection",
  TLS_FAILED: "the certificate is not valid",
  BROKEN_RESPONSE: "the response is not HTTP or was cut off",
  ADDRESS_NOT_ALLOWED: "the host has a private address",
};

/** "Status 302 in 12 ms: redirects are not followed". */
export function attemptText({ status, error, ms }: Attempt): string {
  const outcome = `${status === undefined ? "No response" : `Status ${status}`} in ${duration(ms)}`;
  const reason = error && (ERRORS[error] ?? error);
  return reason ? `${outcome}: ${reason}` : outcome;
}

/** The result of a test event, as a sentence. */
export function testText({ state, attempts }: Delivery): string {
  const last = attempts.at(-1);
  const words = state === "delivered" ? "Test event delivered" : "Test event not delivered";
  return last ? `${words}. ${attemptText(last)}.` : `${words}.`;
}

export const attemptsText = ({ attempts }: Delivery): string => plural(attempts.length, "attempt");

/** A short name of a receiver: its description, or else its host. */
export function webhookName({ description, url }: Webhook): string {
  if (description) return description;
  return URL.parse(url)?.host ?? url;
}
