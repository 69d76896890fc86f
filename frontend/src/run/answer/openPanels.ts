// Which panels of a run are opened automatically: the one in use. Reasoning hands over to search, search to the answer.
import type { CallItem, RunTrace } from "../../types/models.ts";
import { isOpen, type Stop, stopsOf } from "./stops.ts";

/** The reader's setting for reasoning panels. */
export const PANEL_CHOICES = ["automatic", "open", "closed"] as const;
export type PanelChoice = (typeof PANEL_CHOICES)[number];

/** Reasoning that says nothing for this long once a search was called is over. */
export const SILENT_MS = 350;

export interface Panels {
  /** Ids of stops. */
  open: ReadonlySet<string>;
  /** In how many milliseconds this changes by time alone; undefined: not before the next event. */
  again: number | undefined;
}

const CLOSED: Panels = { open: new Set(), again: undefined };

/** `silentMs`: how long no reasoning has come. */
export function panelsOf(trace: RunTrace, silentMs: number, stops = stopsOf(trace)): Panels {
  if (trace.end) return CLOSED;
  const open = new Set<string>();
  const since: CallItem[] = [];
  let again: number | undefined;
  let isThere = false;
  for (const stop of stopsInUse(stops)) {
    if (stop.kind === "search" && stop.calls.some((call) => !isOpen(call)) && !hasSearch(open)) open.add(stop.id);
    if (stop.kind === "search" || stop.kind === "tools") since.push(...stop.calls);
    if (stop.kind !== "reasoning" || isThere) continue;
    isThere = true;
    const left = openFor(
      stop.items.some(({ running }) => running),
      since,
      silentMs,
    );
    if (left <= 0) continue;
    open.add(stop.id);
    if (Number.isFinite(left)) again = left;
  }
  return open.size === 0 ? CLOSED : { open, again };
}

const hasSearch = (open: ReadonlySet<string>): boolean => [...open].some((id) => id.startsWith("search-"));

/** From the end back to where the answer last spoke: all before that is folded. */
function stopsInUse(stops: readonly Stop[]): readonly Stop[] {
  const spoke = stops.findLastIndex((stop) => stop.kind === "answer");
  return stops.slice(spoke + 1).toReversed();
}

/** How many milliseconds more the last block of reasoning stays open, if nothing comes. `since`: the calls after it. */
function openFor(running: boolean, since: readonly CallItem[], silentMs: number): number {
  if (since.length === 0) return Infinity;
  const searches = since.filter((call) => call.category === "search");
  // Other tools take no room: what was thought stays until they have answered.
  if (searches.length === 0) return running || since.some(isOpen) ? Infinity : 0;
  // A block that goes on after a result is running again.
  if (!running && searches.some((call) => !isOpen(call))) return 0;
  return SILENT_MS - silentMs;
}
