// The panels that are open automatically: reasoning, then search, until the answer begins.
import type { CallItem, RunTrace } from "../../types/models.ts";
import { isOpen } from "../trace/items.ts";
import { type Stop, stopsOf } from "./stops.ts";

/** The user's setting for reasoning panels. */
export const PANEL_CHOICES = ["automatic", "open", "closed"] as const;
export type PanelChoice = (typeof PANEL_CHOICES)[number];

/** After a search call, reasoning counts as finished if none arrives for this long. */
export const SILENT_MS = 350;

export interface Panels {
  /** Ids of stops. */
  open: ReadonlySet<string>;
  /** Milliseconds until the set changes without an event. Undefined if it does not. */
  again: number | undefined;
}

const CLOSED: Panels = { open: new Set(), again: undefined };

/** `silentMs` is the time since the last reasoning. */
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

/** The stops after the last text of the answer, newest first. Earlier panels are closed. */
function stopsInUse(stops: readonly Stop[]): readonly Stop[] {
  const spoke = stops.findLastIndex((stop) => stop.kind === "answer");
  return stops.slice(spoke + 1).toReversed();
}

/** How many more milliseconds the last reasoning stays open if nothing arrives. `since` has the calls after it. */
function openFor(running: boolean, since: readonly CallItem[], silentMs: number): number {
  if (since.length === 0) return Infinity;
  const searches = since.filter((call) => call.category === "search");
  // Other tools have no open panel, so the reasoning stays open until they have finished.
  if (searches.length === 0) return running || since.some(isOpen) ? Infinity : 0;
  // Reasoning that continues after a result is running again.
  if (!running && searches.some((call) => !isOpen(call))) return 0;
  return SILENT_MS - silentMs;
}
