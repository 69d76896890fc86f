// Whether an answer that ended can go on where it stopped.
import type { RunEnd, RunTrace } from "../types/models.ts";

const ENDED_EARLY = new Set(["length", "interrupted", "error", "cancelled"]);

/** It ended before its end, and has said or found something to go on from. */
export function canContinue({ items }: RunTrace, end: RunEnd): boolean {
  if (end.declined) return false;
  const wasLimited = items.some((item) => item.kind === "warning" && item.code === "MAX_STEPS");
  if (!ENDED_EARLY.has(end.status) && !(end.status === "complete" && wasLimited)) return false;
  return items.some((item) =>
    item.kind === "content"
      ? !item.synthetic && !item.refusal && /\S/.test(item.text)
      : item.kind === "call" && item.status === "done",
  );
}
