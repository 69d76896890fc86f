// Decides whether an ended answer can be continued.
import type { RunEnd, RunTrace } from "../../types/models.ts";

const ENDED_EARLY = new Set(["length", "interrupted", "error", "cancelled"]);

const STEP_LIMITS = new Set(["MAX_STEPS", "TURN_LIMIT"]);

/** The same model would reject the same request again. */
const REFUSED_AGAIN = new Set([
  "CONTEXT_LENGTH_EXCEEDED",
  "UPSTREAM_FORBIDDEN",
  "UPSTREAM_NO_IMAGES",
  "UPSTREAM_NOT_FOUND",
  "UPSTREAM_REJECTED",
  "UPSTREAM_TOO_LARGE",
  "UNKNOWN_CONVERSATION",
  "UNKNOWN_MESSAGE",
  "UNKNOWN_MODEL",
]);

/** An answer can be continued if it ended early and has text or results. `own` is its last run. */
export function canContinue({ items }: RunTrace, end: RunEnd, { items: last, runId }: RunTrace): boolean {
  if (end.declined || REFUSED_AGAIN.has(end.code ?? "")) return false;
  // The page lost the connection. The run may still be active on the server.
  if (end.local && end.status !== "cancelled" && runId) return false;
  const wasLimited = last.some((item) => item.kind === "warning" && STEP_LIMITS.has(item.code ?? ""));
  if (!ENDED_EARLY.has(end.status) && !(end.status === "complete" && wasLimited)) return false;
  return items.some((item) =>
    item.kind === "content"
      ? !item.synthetic && !item.refusal && /\S/.test(item.text)
      : item.kind === "call" && item.status === "done",
  );
}
