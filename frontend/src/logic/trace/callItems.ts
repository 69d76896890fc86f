// Tool calls of a trace: how their events become items.

import type { ToolCalls, ToolExecuting, ToolResult } from "@signalbox/client";
import type { CallItem, RunTrace } from "../../types/models.ts";
import { isOpen, replace, settleReasoning } from "./items.ts";
import { withoutPreviews, withPreviewed } from "./previews.ts";
import { linksOf } from "./sources.ts";
import { visibilityOf, withVisibility } from "./toolVisibility.ts";

export function announce(trace: RunTrace, event: ToolCalls): RunTrace {
  const known = new Set(trace.items.flatMap((item) => (item.kind === "call" ? [item.id] : [])));
  const fresh = event.calls
    .filter((call) => !known.has(call.id) && known.add(call.id))
    .map(
      (call): CallItem => ({
        kind: "call",
        id: call.id,
        name: call.name,
        ...withPreviewed(given(call.arguments), call, trace),
        ...visibilityOf(call),
        status: "waiting",
        cached: false,
        links: [],
        ...(event.step !== undefined && { step: event.step }),
      }),
    );
  return { ...withoutPreviews(trace, known), items: [...settleReasoning(trace.items, event.ts), ...fresh] };
}

/** Parse the arguments. Text that is not a JSON object is kept as it is. */
function given(text: string): Pick<CallItem, "arguments" | "argumentsRaw"> {
  if (!text.trim()) return { arguments: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { arguments: value as Record<string, unknown> };
  } catch {
    // The model was cut off, or wrote invalid JSON.
  }
  return { arguments: {}, argumentsRaw: text };
}

/** The call of an event, with the event's visibility. A call that was not announced is added. */
function callOf(trace: RunTrace, event: ToolExecuting | ToolResult): { trace: RunTrace; call: CallItem } {
  const found = callWith(trace, event.id) ?? callNamed(trace, event);
  if (found) return { trace, call: withVisibility(found, event) };
  const { type: _type, ...call } = event;
  const announced = announce(trace, {
    type: "tool_calls",
    calls: [{ ...call, arguments: "{}" }],
    ...(event.step !== undefined && { step: event.step }),
  });
  return { trace: announced, call: announced.items.at(-1) as CallItem };
}

function callWith(trace: RunTrace, id: string): CallItem | undefined {
  const calls = trace.items.filter((item) => item.kind === "call");
  return calls.find((call) => call.id === id) ?? calls.find((call) => call.alias === id);
}

/** An unknown id belongs to the oldest call with the same tool name that is waiting for such an event. */
function callNamed(trace: RunTrace, { type, id, name }: ToolExecuting | ToolResult): CallItem | undefined {
  const waits = (call: CallItem) => (type === "tool_executing" ? call.status === "waiting" : isOpen(call));
  const found = trace.items.find(
    (item) => item.kind === "call" && item.name === name && item.alias === undefined && waits(item),
  );
  return found?.kind === "call" ? { ...found, alias: id } : undefined;
}

export function execute(before: RunTrace, event: ToolExecuting): RunTrace {
  const { trace, call } = callOf(before, event);
  if (call.status !== "waiting") return { ...trace, items: replace(trace.items, call) };
  const running: CallItem = { ...call, status: "running", ...(event.ts !== undefined && { startedAt: event.ts }) };
  return { ...trace, items: replace(trace.items, running) };
}

export function answer(before: RunTrace, event: ToolResult): RunTrace {
  const { trace, call } = callOf(before, event);
  if (!isOpen(call)) return trace;
  const { result } = event;
  const ended = {
    ...call,
    cached: event.cached === true,
    ...(event.artifact !== undefined && { artifact: event.artifact }),
    ...(event.ts !== undefined && { endedAt: event.ts }),
  };
  const answered: CallItem = result.success
    ? { ...ended, status: "done", result: result.result, links: linksOf(result.result) }
    : {
        ...ended,
        status: result.code === "CANCELLED" ? "cancelled" : "failed",
        error: result.error,
        code: result.code,
      };
  // A search result ends the reasoning before it; its next text reopens it. Results of hidden tools do not.
  const ends = call.category === "search" && call.visibility !== "hidden";
  return { ...trace, items: replace(ends ? settleReasoning(trace.items) : trace.items, answered) };
}
