// Handles events that the page has shown but that a server crash lost.

import type { Done } from "@signalbox/client";
import type { RawEvent } from "../../types/api.ts";
import type { ChatEvent, RunTrace } from "../../types/models.ts";
import { runReducer } from "./reducer.ts";

type Gap = NonNullable<Done["unsaved"]>;

/**
 * The trace without the lost events, as it is after a reload. The lost text is kept separately. `events` are all events
 * on this page, including those after the crash.
 */
export function withoutUnsaved(trace: RunTrace, events: readonly RawEvent[], { after, before }: Gap): RunTrace {
  const isLost = ({ seq }: RawEvent) => seq > after && seq < before;
  const lost = events.filter(isLost);
  if (lost.length === 0) return trace;
  // A leading space belongs to the word before it.
  const unsaved = { text: textOf(lost, "content").trimStart(), reasoning: textOf(lost, "reasoning") };
  const saved = events.filter((event) => !isLost(event));
  const start: RunTrace = { ...trace, items: [], unsaved };
  return saved.reduce((known, { event }) => runReducer(known, event as unknown as ChatEvent), start);
}

/** The trace after the next event, the last of `events`. After a crash, `done` tells which earlier events were saved. */
export function nextTrace(trace: RunTrace, events: readonly RawEvent[], event: ChatEvent): RunTrace {
  const gap = event.type === "done" ? event.unsaved : undefined;
  return runReducer(gap ? withoutUnsaved(trace, events.slice(0, -1), gap) : trace, event);
}

const textOf = (events: readonly RawEvent[], type: "content" | "reasoning"): string =>
  events.map(({ event }) => (event.type === type && typeof event.content === "string" ? event.content : "")).join("");
