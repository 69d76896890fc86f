// The stops on the line beside an answer, and other facts derived from a trace.
import type {
  CallItem,
  CallPreview,
  ContentItem,
  Link,
  ReasoningItem,
  RunItem,
  RunTrace,
  WarningItem,
} from "../../types/models.ts";
import { makesImages, writesFiles } from "../files/writesFiles.ts";
import { isOpen } from "../trace/items.ts";

/** `cut`: ended by a limit or a pause, so it can be continued. */
export type Lamp = "running" | "done" | "failed" | "cut" | "waiting" | "blue";

export type Stop =
  /** Reasoning without a visible step in between. */
  | { kind: "reasoning"; id: string; lamp: Lamp; items: readonly ReasoningItem[] }
  | { kind: "search"; id: string; lamp: Lamp; calls: readonly CallItem[] }
  | { kind: "tools"; id: string; lamp: Lamp; calls: readonly CallItem[] }
  /** One call that writes a file or makes images: its preview while the model writes the call, then the call. */
  | { kind: "file"; id: string; lamp: Lamp; call: CallItem | CallPreview }
  /** `settled`: the text no longer grows. */
  | { kind: "answer"; id: string; item: ContentItem; settled: boolean }
  | { kind: "pending"; id: string; lamp: Lamp; label: string };

/** Codes of calls that were skipped on purpose: over the limit, or replaced by the model. They are no failures. */
const SKIPPED_CODES = new Set(["TOOL_CLAMP", "SUPERSEDED"]);

export const wasSkipped = (call: CallItem): boolean => call.status === "failed" && SKIPPED_CODES.has(call.code ?? "");

export const hasFailed = (call: CallItem): boolean => call.status === "failed" && !wasSkipped(call);

/** The client executes the call. */
export const wasHanded = (call: CallItem): boolean => call.status === "handed";

export const lampOf = (call: CallItem): Lamp => {
  if (isOpen(call)) return "running";
  if (call.status === "done") return call.cached ? "blue" : "done";
  return hasFailed(call) ? "failed" : "waiting";
};

/**
 * One lamp for a burst. A failure shows even after later successes (quirk H5), until the user has opened the panel and
 * another call has succeeded.
 */
export function burstLamp(calls: readonly CallItem[], touched = false): Lamp {
  if (calls.some(isOpen)) return "running";
  const done = calls.filter((call) => call.status === "done");
  if (calls.some(hasFailed) && !(touched && done.length > 0)) return "failed";
  if (calls.some((call) => call.status === "cancelled") || done.length === 0) return "waiting";
  return done.every((call) => call.cached) && done.length === calls.length ? "blue" : "done";
}

const isEmpty = (item: ContentItem): boolean => isBlank(item.text) && !item.images && !item.links;

const isBlank = (text: string): boolean => !/\S/.test(text);

/**
 * The stops of a run in order. Hidden calls are left out. Consecutive searches form one stop, and so do consecutive
 * calls of other tools, and reasoning with only hidden calls in between. `asked`: reasoning was requested, so its stop
 * appears before its first text.
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
        if (writesFiles(item.name) || makesImages(item.name))
          stops.push({ kind: "file", id: `file-${item.id}`, lamp: lampOf(item), call: item });
        else if (item.visibility !== "hidden") addCall(stops, item);
        break;
      case "warning":
        break;
    }
  }
  for (const call of filePreviews(trace)) stops.push({ kind: "file", id: `file-${call.id}`, lamp: "running", call });
  const pending = pendingStop(trace, asked);
  if (pending) addPending(stops, pending);
  return stops;
}

/** The calls that write files and that the model is still writing. */
const filePreviews = ({ previews = [] }: RunTrace): readonly CallPreview[] =>
  previews.filter(({ name }) => writesFiles(name));

function addReasoning(stops: Stop[], item: ReasoningItem): void {
  const last = stops.at(-1);
  const lamp = item.running ? "running" : "done";
  if (last?.kind !== "reasoning") stops.push({ kind: "reasoning", id: item.id, lamp, items: [item] });
  else stops[stops.length - 1] = { ...last, lamp, items: [...last.items, item] };
}

/** While a hidden tool runs, the reasoning before it continues. A separate row would appear and disappear. */
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

/** What the run waits for if no stop shows it: the model's first or next output. */
function pendingStop(trace: RunTrace, asked: boolean): Stop | undefined {
  if (trace.end || filePreviews(trace).length > 0) return undefined;
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

/** The text of the whole answer as Markdown. */
export const answerText = (trace: RunTrace): string =>
  trace.items
    .flatMap((item) => (item.kind === "content" ? [item.text] : []))
    .join("")
    .trim();

/** The link lists of all calls and texts, up to the text with the id `before`. Returns the items' own list objects. */
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
 * The sources found before the text with the id `before`, by the server's number. A number stands for a page: if
 * several of its sections were found, the link leads to the page and has all excerpts.
 */
export function sourcesOf(trace: RunTrace, before?: string): ReadonlyMap<number, Link> {
  const sources = new Map<number, Link>();
  for (const link of linkListsOf(trace, before).flat()) {
    if (link.n === undefined) continue;
    const known = sources.get(link.n);
    sources.set(link.n, known ? mergedLink(known, link) : link);
  }
  return sources;
}

function mergedLink(known: Link, link: Link): Link {
  if (known.url === link.url) return known;
  const snippet = known.snippet.includes(link.snippet) ? known.snippet : `${known.snippet} … ${link.snippet}`;
  return { ...known, url: known.url.split("#", 1)[0] ?? known.url, title: pageOf(known.title), snippet };
}

/** "Architecture › What is a journal" is a section of "Architecture". */
const pageOf = (title: string): string => title.split(" › ", 1)[0] ?? title;

/** The warnings, except the one that only repeats the error of the ending. */
export const warningsOf = (trace: RunTrace): readonly WarningItem[] =>
  trace.items.filter(
    (item): item is WarningItem => item.kind === "warning" && (!trace.end?.code || item.code !== trace.end.code),
  );

/** The total duration in ms, without pauses in between, or undefined without server times. */
export function totalTimeMs(items: readonly { startedAt?: number; endedAt?: number }[]): number | undefined {
  const times = items.map(timeMs).filter((ms) => ms !== undefined);
  return times.length === 0 ? undefined : times.reduce((sum, ms) => sum + ms, 0);
}

/** The duration in ms, or undefined without server times. */
export const timeMs = ({ startedAt, endedAt }: { startedAt?: number; endedAt?: number }): number | undefined =>
  startedAt === undefined || endedAt === undefined ? undefined : Math.max(0, endedAt - startedAt);
