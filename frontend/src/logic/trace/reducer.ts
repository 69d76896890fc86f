// The reducer from a run's events to its trace. It is pure, so a saved run looks exactly as it did live.
import type { Content, Done, Reasoning, Warning } from "../../types/events.ts";
import type {
  CallItem,
  CallStatus,
  ChatEvent,
  ContentItem,
  ReasoningItem,
  RunEnd,
  RunItem,
  RunTrace,
} from "../../types/models.ts";
import type { ToolCalls, ToolExecuting, ToolResult } from "../../types/receivedEvents.ts";
import { linksOf } from "./sources.ts";
import { visibilityOf, withVisibility } from "./toolVisibility.ts";

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
  const ts = event.type === "content" ? undefined : event.ts;
  return {
    ...trace,
    ...(event.run_id && { runId: event.run_id }),
    ...(event.v && { contract: event.v }),
    ...(event.loop && { loop: event.loop }),
    ...(ts !== undefined && { firstAt: trace.firstAt ?? ts, lastAt: ts }),
  };
}

function addReasoning(trace: RunTrace, event: Reasoning, since: number | undefined): RunTrace {
  const at = event.ts ?? trace.lastAt;
  const index = openBlock(trace.items, event.step);
  const block = trace.items[index];
  if (block?.kind === "reasoning") {
    const grown: ReasoningItem = {
      ...block,
      text: block.text + event.content,
      hidden: block.hidden || event.hidden === true,
      running: true,
      ...(at !== undefined && { endedAt: at }),
    };
    return { ...trace, items: trace.items.with(index, grown) };
  }
  // Text events have no time. After text, reasoning starts with its first event.
  const startedAt = trace.items.at(-1)?.kind === "content" ? at : (since ?? at);
  const fresh: ReasoningItem = {
    kind: "reasoning",
    id: nextId(trace, "reasoning"),
    text: event.content,
    hidden: event.hidden === true,
    running: true,
    ...(event.step !== undefined && { step: event.step }),
    ...(startedAt !== undefined && { startedAt }),
    ...(at !== undefined && { endedAt: at }),
  };
  return { ...trace, items: [...settleReasoning(trace.items), fresh] };
}

/**
 * The index of the block that this reasoning continues, or -1. Results and text end a block. But an early result of the
 * same step may arrive in the middle of a sentence; then the block continues.
 */
function openBlock(items: readonly RunItem[], step: number | undefined): number {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] as RunItem;
    switch (item.kind) {
      case "reasoning":
        return step === undefined || item.step === undefined || item.step === step ? index : -1;
      case "content":
        return -1;
      case "call":
        if (step === undefined && !isOpen(item)) return -1;
        break;
      case "warning":
        break;
    }
  }
  return -1;
}

/** Text of a later step starts after a blank line. Text that early results interrupted continues. */
function addContent(before: RunTrace, event: Content): RunTrace {
  if (event.images) return addImages(before, event);
  if (event.sources && !event.content) return addSources(before, event);
  const trace = event.sources ? addSources(before, event) : before;
  const items = settleReasoning(trace.items);
  const { index, interrupted } = lastContent(items);
  const last = items[index];
  const synthetic = event.synthetic === true;
  const startsAnew = interrupted && event.content.startsWith("\n\n");
  if (last?.kind === "content" && !startsAnew && last.synthetic === synthetic && !last.images) {
    const refusal = last.refusal || event.refusal === true;
    return { ...trace, items: items.with(index, { ...last, text: last.text + event.content, refusal }) };
  }
  return { ...trace, items: [...items, freshContent(trace, event)] };
}

const freshContent = (trace: RunTrace, event: Content): ContentItem => ({
  kind: "content",
  id: nextId(trace, "content"),
  text: event.content,
  refusal: event.refusal === true,
  synthetic: event.synthetic === true,
});

/** Images are separate items, so that texts and images keep their order. */
function addImages(trace: RunTrace, event: Content): RunTrace {
  const images = (event.images ?? []).map((image) => image.url);
  const items = settleReasoning(trace.items);
  const last = items.at(-1);
  if (last?.kind === "content" && last.images && !event.content)
    return { ...trace, items: items.with(-1, { ...last, images: [...last.images, ...images] }) };
  return { ...trace, items: [...items, { ...freshContent(trace, event), images }] };
}

/** Citations belong to the text before them. */
function addSources(trace: RunTrace, event: Content): RunTrace {
  const links = linksOf(event.sources);
  const index = trace.items.findLastIndex((item) => item.kind === "content");
  const last = trace.items[index];
  if (last?.kind === "content") {
    const cited: ContentItem = { ...last, links: [...(last.links ?? []), ...links] };
    return { ...trace, items: trace.items.with(index, cited) };
  }
  const fresh = { ...freshContent(trace, { ...event, content: "" }), links };
  return { ...trace, items: [...settleReasoning(trace.items), fresh] };
}

/** The index of the text that may continue because no reasoning followed it, or -1. `interrupted`: a call followed. */
function lastContent(items: readonly RunItem[]): { index: number; interrupted: boolean } {
  let interrupted = false;
  for (let index = items.length - 1; index >= 0; index--) {
    const kind = items[index]?.kind;
    if (kind === "content") return { index, interrupted };
    if (kind === "reasoning") break;
    if (kind === "call") interrupted = true;
  }
  return { index: -1, interrupted };
}

function announce(trace: RunTrace, event: ToolCalls): RunTrace {
  const known = new Set(trace.items.flatMap((item) => (item.kind === "call" ? [item.id] : [])));
  const fresh = event.calls
    .filter((call) => !known.has(call.id) && known.add(call.id))
    .map(
      (call): CallItem => ({
        kind: "call",
        id: call.id,
        name: call.name,
        ...given(call.arguments),
        ...visibilityOf(call),
        status: "waiting",
        cached: false,
        links: [],
        ...(event.step !== undefined && { step: event.step }),
      }),
    );
  return { ...trace, items: [...settleReasoning(trace.items, event.ts), ...fresh] };
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

function execute(before: RunTrace, event: ToolExecuting): RunTrace {
  const { trace, call } = callOf(before, event);
  if (call.status !== "waiting") return { ...trace, items: replace(trace.items, call) };
  const running: CallItem = { ...call, status: "running", ...(event.ts !== undefined && { startedAt: event.ts }) };
  return { ...trace, items: replace(trace.items, running) };
}

function answer(before: RunTrace, event: ToolResult): RunTrace {
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

function close(trace: RunTrace, end: RunEnd, open: CallStatus, why: string): RunTrace {
  if (trace.end) return trace;
  const at = trace.lastAt;
  const items = trace.items.flatMap((item): RunItem[] => {
    if (item.kind === "reasoning") return item.text || item.hidden ? [settled(item, at)] : [];
    if (item.kind !== "call" || !isOpen(item)) return [item];
    const ended = { ...item, ...(at !== undefined && { endedAt: at }) };
    return [end.handed?.includes(item.id) ? { ...ended, status: "handed" } : { ...ended, status: open, error: why }];
  });
  return { ...trace, items, end };
}

const settled = (item: ReasoningItem, at?: number): ReasoningItem =>
  item.running ? { ...item, running: false, ...(at !== undefined && { endedAt: at }) } : item;

/** Usually nothing is running, and the list is returned unchanged. */
function settleReasoning(items: readonly RunItem[], at?: number): readonly RunItem[] {
  const index = items.findLastIndex((item) => item.kind === "reasoning");
  const last = items[index];
  return last?.kind === "reasoning" && last.running ? items.with(index, settled(last, at)) : items;
}

const isOpen = (call: CallItem): boolean => call.status === "waiting" || call.status === "running";

function replace(items: readonly RunItem[], item: RunItem): readonly RunItem[] {
  const index = items.findLastIndex((old) => old.kind === item.kind && old.id === item.id);
  return items.with(index, item);
}

const nextId = (trace: RunTrace, kind: RunItem["kind"]): string =>
  `${kind}-${trace.items.filter((item) => item.kind === kind).length + 1}`;
