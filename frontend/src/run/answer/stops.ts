// What stands on the line: the run's items as stops, and the few facts that are read off a trace.
import type { CallItem, ContentItem, Link, ReasoningItem, RunItem, RunTrace, WarningItem } from "../../types/models.ts";

/** `cut`: a limit or a pause ended it, and it can be continued. */
export type Lamp = "running" | "done" | "failed" | "cut" | "waiting" | "blue";

export type Stop =
  /** What was thought without anything visible between it. */
  | { kind: "reasoning"; id: string; lamp: Lamp; items: readonly ReasoningItem[] }
  | { kind: "search"; id: string; lamp: Lamp; calls: readonly CallItem[] }
  | { kind: "tools"; id: string; lamp: Lamp; calls: readonly CallItem[] }
  /** `settled`: its text does not grow any more. */
  | { kind: "answer"; id: string; item: ContentItem; settled: boolean }
  | { kind: "pending"; id: string; lamp: Lamp; label: string };

/** Calls that were not run on purpose: over the limit, or changed by the model. Nothing is wrong with them. */
const PASSED_OVER = new Set(["TOOL_CLAMP", "SUPERSEDED"]);

export const wasSkipped = (call: CallItem): boolean => call.status === "failed" && PASSED_OVER.has(call.code ?? "");

export const hasFailed = (call: CallItem): boolean => call.status === "failed" && !wasSkipped(call);

export const isOpen = (call: CallItem): boolean => call.status === "waiting" || call.status === "running";

/** The model waits for its tools. */
export const isUsingTools = ({ items }: RunTrace): boolean =>
  items.some((item) => item.kind === "call" && isOpen(item));

export const lampOf = (call: CallItem): Lamp => {
  if (isOpen(call)) return "running";
  if (call.status === "done") return call.cached ? "blue" : "done";
  return hasFailed(call) ? "failed" : "waiting";
};

/**
 * One lamp for a burst: running while one runs; a failure is seen whatever came after it (quirk H5), until the reader
 * has looked at it and something else did work.
 */
export function burstLamp(calls: readonly CallItem[], looked = false): Lamp {
  if (calls.some(isOpen)) return "running";
  const done = calls.filter((call) => call.status === "done");
  if (calls.some(hasFailed) && !(looked && done.length > 0)) return "failed";
  if (calls.some((call) => call.status === "cancelled") || done.length === 0) return "waiting";
  return done.every((call) => call.cached) && done.length === calls.length ? "blue" : "done";
}

const isEmpty = (item: ContentItem): boolean => isBlank(item.text) && !item.images && !item.links;

const isBlank = (text: string): boolean => !/\S/.test(text);

/**
 * The stops of a run in order. Hidden calls never show; calls that nothing stands between are one stop for searches and
 * one for other tools, and reasoning that only hidden calls stand between is one stop. `asked`: reasoning was asked for,
 * so its stop is there before its first word.
 */
export function stopsOf(trace: RunTrace, asked = false): readonly Stop[] {
  const stops: Stop[] = [];
  const talks = trace.items.findLastIndex((item) => item.kind === "content" || item.kind === "reasoning");
  for (const [index, item] of trace.items.entries()) {
    switch (item.kind) {
      case "reasoning":
        addReasoning(stops, item);
        break;
      case "content":
        if (isEmpty(item)) break;
        stops.push({ kind: "answer", id: item.id, item, settled: trace.end !== undefined || index < talks });
        break;
      case "call":
        if (item.visibility !== "hidden") addCall(stops, item);
        break;
      case "warning":
        break;
    }
  }
  const pending = pendingStop(trace, asked);
  if (pending) addPending(stops, pending);
  return stops;
}

function addReasoning(stops: Stop[], item: ReasoningItem): void {
  const last = stops.at(-1);
  const lamp = item.running ? "running" : "done";
  if (last?.kind !== "reasoning") stops.push({ kind: "reasoning", id: item.id, lamp, items: [item] });
  else stops[stops.length - 1] = { ...last, lamp, items: [...last.items, item] };
}

/** While a hidden tool works the reasoning before it goes on: a separate row would come and go. */
function addPending(stops: Stop[], pending: Stop): void {
  const last = stops.at(-1);
  if (last?.kind === "reasoning") stops[stops.length - 1] = { ...last, lamp: "running" };
  else stops.push(pending);
}

function addCall(stops: Stop[], call: CallItem): void {
  const kind = call.category === "search" ? "search" : "tools";
  const burst = stops.findLastIndex((stop) => stop.kind === kind);
  const known = stops[burst];
  const isSame = stops.slice(burst + 1).every((stop) => stop.kind === "search" || stop.kind === "tools");
  if (known?.kind !== kind || !isSame) {
    stops.push({ kind, id: `${kind}-${call.id}`, lamp: lampOf(call), calls: [call] });
    return;
  }
  const calls = [...known.calls, call];
  stops[burst] = { ...known, lamp: burstLamp(calls), calls };
}

/** What the run waits for when nothing on the line says so: the model's first word, or its next. */
function pendingStop(trace: RunTrace, asked: boolean): Stop | undefined {
  if (trace.end) return undefined;
  const shown = trace.items.filter((item) => item.kind !== "warning" && !(item.kind === "content" && isEmpty(item)));
  const last = shown.at(-1);
  const stop = (label: string): Stop => ({ kind: "pending", id: `pending-${shown.length}`, lamp: "running", label });
  if (!last) return stop(asked ? "Thinking" : "Waiting for the model");
  if (last.kind !== "call") return undefined;
  if (isOpen(last)) return last.visibility === "hidden" ? stop("Working") : undefined;
  return shown.some(isBusy) ? undefined : stop("Thinking");
}

const isBusy = (item: RunItem): boolean =>
  item.kind === "reasoning" ? item.running : item.kind === "call" && isOpen(item) && item.visibility !== "hidden";

/** The whole answer as markdown: every piece of text, in order. */
export const answerText = (trace: RunTrace): string =>
  trace.items
    .flatMap((item) => (item.kind === "content" ? [item.text] : []))
    .join("")
    .trim();

/** The links of every call and answer up to the item with that id, in their order; the lists are their own. */
export function linkListsOf(trace: RunTrace, before?: string): readonly (readonly Link[])[] {
  const lists: (readonly Link[])[] = [];
  for (const item of trace.items) {
    if (item.kind === "content" && item.links) lists.push(item.links);
    if (item.kind === "content" && item.id === before) break;
    if (item.kind === "call" && item.links.length > 0) lists.push(item.links);
  }
  return lists;
}

/**
 * The sources by the server's number, as they were found before the item with that id. A number is a page's: one of
 * which several sections were found leads to the page, and quotes all of them.
 */
export function sourcesOf(trace: RunTrace, before?: string): ReadonlyMap<number, Link> {
  const sources = new Map<number, Link>();
  for (const link of linkListsOf(trace, before).flat()) {
    if (link.n === undefined) continue;
    const known = sources.get(link.n);
    sources.set(link.n, known ? together(known, link) : link);
  }
  return sources;
}

function together(known: Link, link: Link): Link {
  if (known.url === link.url) return known;
  const snippet = known.snippet.includes(link.snippet) ? known.snippet : `${known.snippet} … ${link.snippet}`;
  return { ...known, url: known.url.split("#", 1)[0] ?? known.url, title: pageOf(known.title), snippet };
}

/** "Architecture › What is a journal" is a section of "Architecture". */
const pageOf = (title: string): string => title.split(" › ", 1)[0] ?? title;

/** The warnings, without the one that only announces the ending: the ending says it itself. */
export const warningsOf = (trace: RunTrace): readonly WarningItem[] =>
  trace.items.filter(
    (item): item is WarningItem => item.kind === "warning" && (!trace.end?.code || item.code !== trace.end.code),
  );

/** How long all of it took in ms, without the pauses between, where the server's times tell. */
export function tookInAllMs(items: readonly { startedAt?: number; endedAt?: number }[]): number | undefined {
  const times = items.map(tookMs).filter((ms) => ms !== undefined);
  return times.length === 0 ? undefined : times.reduce((sum, ms) => sum + ms, 0);
}

/** How long it took in ms, where the server's times tell. */
export const tookMs = ({ startedAt, endedAt }: { startedAt?: number; endedAt?: number }): number | undefined =>
  startedAt === undefined || endedAt === undefined ? undefined : Math.max(0, endedAt - startedAt);
