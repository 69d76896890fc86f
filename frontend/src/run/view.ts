// What stands on the line: the run's items as stops, and the few facts that are read off a trace.
import type { CallItem, ContentItem, Link, ReasoningItem, RunItem, RunTrace, WarningItem } from "../types/models.ts";
import { uniqueLinks } from "./links.ts";

export type Lamp = "running" | "done" | "failed" | "waiting" | "blue";

export type Stop =
  | { kind: "reasoning"; id: string; lamp: Lamp; item: ReasoningItem }
  | { kind: "search"; id: string; lamp: Lamp; calls: readonly CallItem[]; links: readonly Link[]; answered: boolean }
  | { kind: "tools"; id: string; lamp: Lamp; calls: readonly CallItem[] }
  | { kind: "answer"; id: string; item: ContentItem }
  | { kind: "pending"; id: string; lamp: Lamp; label: string };

/** Calls that were not run on purpose: over the limit, or changed by the model. Nothing is wrong with them. */
const PASSED_OVER = new Set(["TOOL_CLAMP", "SUPERSEDED"]);

export const wasSkipped = (call: CallItem): boolean => call.status === "failed" && PASSED_OVER.has(call.code ?? "");

export const hasFailed = (call: CallItem): boolean => call.status === "failed" && !wasSkipped(call);

export const lampOf = (call: CallItem): Lamp => {
  if (isOpen(call)) return "running";
  if (call.status === "done") return call.cached ? "blue" : "done";
  return hasFailed(call) ? "failed" : "waiting";
};

const isOpen = (call: CallItem): boolean => call.status === "waiting" || call.status === "running";

/** One lamp for a burst: running while one runs; a failure is seen whatever came after it (quirk H5). */
export function burstLamp(calls: readonly CallItem[]): Lamp {
  if (calls.some(isOpen)) return "running";
  if (calls.some(hasFailed)) return "failed";
  if (calls.some((call) => call.status === "cancelled") || calls.every((call) => call.status === "failed"))
    return "waiting";
  return calls.length > 0 && calls.every((call) => call.cached) ? "blue" : "done";
}

/** The stops of a run in order. Hidden calls never show; calls that follow each other are one stop. */
export function stopsOf(trace: RunTrace): readonly Stop[] {
  const stops: Stop[] = [];
  for (const [index, item] of trace.items.entries()) {
    switch (item.kind) {
      case "reasoning":
        stops.push({ kind: "reasoning", id: item.id, lamp: item.running ? "running" : "done", item });
        break;
      case "content":
        if (item.text.trim()) stops.push({ kind: "answer", id: item.id, item });
        break;
      case "call":
        if (item.visibility !== "hidden") addCall(stops, item, answeredAfter(trace.items, index));
        break;
      case "warning":
        break;
    }
  }
  const pending = pendingStop(trace);
  return pending ? [...stops, pending] : stops;
}

const answeredAfter = (items: readonly RunItem[], index: number): boolean =>
  items.slice(index + 1).some((item) => item.kind === "content" && item.text.trim() !== "");

function addCall(stops: Stop[], call: CallItem, answered: boolean): void {
  const kind = call.category === "search" ? "search" : "tools";
  const last = stops.at(-1);
  const burst = last?.kind === kind ? [...last.calls, call] : [call];
  if (last?.kind === kind) stops.pop();
  const id = `${kind}-${burst[0]?.id}`;
  const lamp = burstLamp(burst);
  if (kind === "tools") stops.push({ kind, id, lamp, calls: burst });
  else stops.push({ kind, id, lamp, calls: burst, links: uniqueLinks(burst.flatMap((c) => c.links)), answered });
}

/** What the run waits for when nothing on the line says so: the model's first word, or its next. */
function pendingStop(trace: RunTrace): Stop | undefined {
  if (trace.end) return undefined;
  const shown = trace.items.filter((item) => item.kind !== "warning");
  const last = shown.at(-1);
  const stop = (label: string): Stop => ({ kind: "pending", id: `pending-${shown.length}`, lamp: "running", label });
  if (!last) return stop("Waiting for the model");
  if (last.kind !== "call") return undefined;
  if (!isOpen(last)) {
    const busy = shown.some((item) => item.kind === "call" && isOpen(item) && item.visibility !== "hidden");
    return busy ? undefined : stop("Thinking");
  }
  return last.visibility === "hidden" ? stop("Working") : undefined;
}

/** The whole answer as markdown: every piece of text, in order. */
export const answerText = (trace: RunTrace): string =>
  trace.items
    .flatMap((item) => (item.kind === "content" ? [item.text] : []))
    .join("")
    .trim();

/** What of the answer are the model's own words: what goes back to it in the next turn. */
export const modelWords = (trace: RunTrace): string =>
  trace.items
    .flatMap((item) => (item.kind === "content" && !item.synthetic ? [item.text] : []))
    .join("")
    .trim();

/**
 * The sources by the server's number, as they were found before the item with that id: a text quotes what its model had
 * read. A page that was found again counts by the section that was found last.
 */
export function sourcesOf(trace: RunTrace, before?: string): ReadonlyMap<number, Link> {
  const sources = new Map<number, Link>();
  for (const item of trace.items) {
    if (item.kind === "content" && item.id === before) break;
    if (item.kind !== "call") continue;
    for (const link of item.links) if (link.n !== undefined) sources.set(link.n, link);
  }
  return sources;
}

/** The warnings, without the one that only announces the ending: the ending says it itself. */
export const warningsOf = (trace: RunTrace): readonly WarningItem[] =>
  trace.items.filter(
    (item): item is WarningItem => item.kind === "warning" && (!trace.end?.code || item.code !== trace.end.code),
  );

/** How long a block was thought about, in ms, where the server's times tell. */
export const thoughtMs = (item: ReasoningItem): number | undefined =>
  item.startedAt === undefined || item.endedAt === undefined ? undefined : item.endedAt - item.startedAt;
