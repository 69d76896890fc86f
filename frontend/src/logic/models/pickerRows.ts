// Rows of the open model list: keyboard movement, rendering limit, and the typed id.
import type { Model } from "../../types/api.ts";
import type { Section } from "./modelSearch.ts";

const LEAP = 8;

type Move = (active: number, count: number) => number;

/** Row movements by key. -1 means no active row; arrow keys wrap around. */
const MOVES: Readonly<Record<string, Move>> = {
  ArrowDown: (active, count) => (active + 1) % count,
  ArrowUp: (active, count) => (active <= 0 ? count : active) - 1,
  PageDown: (active, count) => Math.min(active + LEAP, count - 1),
  PageUp: (active) => Math.max(active - LEAP, 0),
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** The row that a key moves to, or undefined. */
export const rowAfterKey = (key: string, active: number, count: number): number | undefined =>
  count === 0 || !Object.hasOwn(MOVES, key) ? undefined : MOVES[key]?.(active, count);

/** The typed id, if it is offered. If there are matches, it must look like an id. */
export const offeredId = (id: string | undefined, found: readonly Model[]): string | undefined =>
  found.length === 0 || id?.includes("/") ? id : undefined;

/** Whether the typed id comes before the matches, because no listed id begins with it. */
export const isIdMeant = (id: string, found: readonly Model[]): boolean =>
  found.length === 0 || (id.includes("/") && !found.some((model) => model.id.startsWith(id.toLowerCase())));

/** The ids of all rows: the matches, with the typed id first or last. */
export function rowIds(found: readonly Model[], free: string | undefined, first: boolean): readonly string[] {
  const all = found.map(({ id }) => id);
  if (free === undefined) return all;
  return first ? [free, ...all] : [...all, free];
}

const PAGE = 40;

/** How many rows to render so that a row is included: whole pages, at least one. */
export const rowsToRender = (index: number): number => (Math.floor(Math.max(index, 0) / PAGE) + 1) * PAGE;

export interface RenderedSection extends Section {
  /** The index of its first model in the whole list. */
  from: number;
}

/** The sections, cut at the rendering limit. */
export function renderedSections(
  sections: readonly Section[],
  limit: number,
  shift: number,
): readonly RenderedSection[] {
  const rows: RenderedSection[] = [];
  let from = 0;
  for (const { title, models } of sections) {
    if (from >= limit) break;
    rows.push({ title, models: models.slice(0, limit - from), from: from + shift });
    from += models.length;
  }
  return rows;
}
