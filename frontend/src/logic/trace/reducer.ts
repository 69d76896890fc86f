// The reducer from a run's events to its trace. It is pure, so a saved run looks exactly as it did live.
import type { Done, Warning } from "@signalbox/client";
import type { CallStatus, ChatEvent, RunEnd, RunItem, RunTrace } from "../../types/models.ts";
import { announce, answer, execute } from "./callItems.ts";
import { isOpen, nextId, settled } from "./items.ts";
import { addPreview } from "./previews.ts";
import { addContent, addReasoning } from "./textItems.ts";

/** The trace of a run before its first event. */
export const emptyTrace = (model: string): RunTrace => ({ schema: 1, runId: "", model, items: [] });

/** Add an event to a trace. Events after the end are ignored. */
export function runReducer(trace: RunTrace, event: ChatEvent): RunTrace {
  if (trace.end) return trace;
  const known = withEnvelope(trace, event);
  // Reasoning starts at the time of the previous event: the model is silent before its first token.
  const since = trace.lastAt;
  switch (event.type) {
    case "reasoning":
      return addReasoning(known, event, since);
    case "content":
      return addContent(known, event);
    case "preview":
      return addPreview(known, event);
    case "tool_calls":
      return announce(known, event);
    case "tool_executing":
      return execute(known, event);
    case "tool_result":
      return answer(known, event);
    case "warning":
      return warn(known, event);
    case "done":
      return finish(known, event);
    default:
      return unknownEvent(event, trace);
  }
}

/** A new event type in the contract is a type error here. At run time it is ignored. */
const unknownEvent = (_: never, trace: RunTrace): RunTrace => trace;

function withEnvelope(trace: RunTrace, event: ChatEvent): RunTrace {
  const ts = event.type === "content" || event.type === "preview" ? undefined : event.ts;
  return {
    ...trace,
    ...(event.run_id && { runId: event.run_id }),
    ...(event.v && { contract: event.v }),
    ...(event.loop && { loop: event.loop }),
    ...(ts !== undefined && { firstAt: trace.firstAt ?? ts, lastAt: ts }),
  };
}

/** A repeated warning is ignored. */
function warn(trace: RunTrace, event: Warning): RunTrace {
  const isKnown = trace.items.some(
    (item) => item.kind === "warning" && item.code === event.code && (event.code || item.message === event.message),
  );
  if (isKnown) return trace;
  const warning: RunItem = {
    kind: "warning",
    id: nextId(trace, "warning"),
    message: event.message,
    ...(event.code !== undefined && { code: event.code }),
    ...(event.step !== undefined && { step: event.step }),
  };
  return { ...trace, items: [...trace.items, warning] };
}

function finish(trace: RunTrace, event: Done): RunTrace {
  const { type: _type, done: _done, v: _v, run_id: _runId, ...end } = event;
  const declined = trace.items.some((item) => item.kind === "content" && item.refusal);
  const known: RunEnd = declined && end.status === "content_filter" ? { ...end, declined } : end;
  return close(
    timed(trace, end),
    known,
    end.status === "cancelled" ? "cancelled" : "failed",
    "The answer ended before the tool returned a result.",
  );
}

/** Durations reported by the server replace measured ones. */
function timed({ firstEventMs, ...trace }: RunTrace, { duration_ms, first_token_ms }: RunEnd): RunTrace {
  if (duration_ms === undefined) return firstEventMs === undefined ? trace : { ...trace, firstEventMs };
  return { ...trace, totalMs: duration_ms, ...(first_token_ms !== undefined && { firstEventMs: first_token_ms }) };
}

/** The connection was lost for good: open items fail, the rest is kept. */
export function connectionLost(trace: RunTrace): RunTrace {
  const error = "The connection to Signalbox was lost before the answer was complete.";
  const end: RunEnd = { status: "interrupted", code: "CONNECTION_LOST", error, retryable: true, local: true };
  return close(trace, end, "failed", "The connection was lost before the tool returned a result.");
}

/** The user stopped the run, and the server's `done` did not arrive. */
export function stoppedLocally(trace: RunTrace): RunTrace {
  return close(trace, { status: "cancelled", local: true }, "cancelled", "Stopped before the tool finished.");
}

/** The request was rejected before a run started. */
export function refused(
  trace: RunTrace,
  reason: { code: string; message: string; retryAfter?: number | undefined },
): RunTrace {
  const end: RunEnd = { status: "error", code: reason.code, error: reason.message, local: true };
  return close(
    trace,
    reason.retryAfter === undefined ? end : { ...end, retry_after: reason.retryAfter },
    "failed",
    reason.message,
  );
}

/** Calls that were not announced by now will not be executed. */
function close(before: RunTrace, end: RunEnd, open: CallStatus, why: string): RunTrace {
  if (before.end) return before;
  const { previews: _, ...trace } = before;
  const at = trace.lastAt;
  const items = trace.items.flatMap((item): RunItem[] => {
    if (item.kind === "reasoning") return item.text || item.hidden ? [settled(item, at)] : [];
    if (item.kind !== "call" || !isOpen(item)) return [item];
    const ended = { ...item, ...(at !== undefined && { endedAt: at }) };
    return [end.handed?.includes(item.id) ? { ...ended, status: "handed" } : { ...ended, status: open, error: why }];
  });
  return { ...trace, items, end };
}
