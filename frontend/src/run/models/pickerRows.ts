// The picker's list while it is open: which row a key leads to, which rows are drawn, where a typed id stands.
import type { Model } from "../../types/api.ts";
import type { Section } from "./modelSearch.ts";

const LEAP = 8;

type Move = (active: number, count: number) => number;

/** Where keys lead; -1 is no row, and arrows go around. */
const MOVES: Readonly<Record<string, Move>> = {
  ArrowDown: (active, count) => (active + 1) % count,
  ArrowUp: (active, count) => (active <= 0 ? count : active) - 1,
  PageDown: (active, count) => Math.min(active + LEAP, count - 1),
  PageUp: (active) => Math.max(active - LEAP, 0),
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** The row that a key leads to; undefined: it leads nowhere. */
export const movedBy = (key: string, active: number, count: number): number | undefined =>
  count === 0 || !Object.hasOwn(MOVES, key) ? undefined : MOVES[key]?.(active, count);

/** The typed id that is offered: where something was found, only what looks like an id. */
export const offeredId = (id: string | undefined, found: readonly Model[]): string | undefined =>
  found.length === 0 || id?.includes("/") ? id : undefined;

/** Whether a typed id is rather meant than what was found: nothing listed begins with it. */
export const isMeant = (id: string, found: readonly Model[]): boolean =>
  found.length === 0 || (id.includes("/") && !found.some((model) => model.id.startsWith(id.toLowerCase())));

/** The ids of the rows: what was found, and what was typed before or behind it. */
export function withFree(found: readonly Model[], free: string | undefined, first: boolean): readonly string[] {
  const all = found.map(({ id }) => id);
  if (free === undefined) return all;
  return first ? [free, ...all] : [...all, free];
}

const PAGE = 40;

/** How many rows are drawn so that this one is among them: whole pages, and one at least. */
export const drawnTo = (index: number): number => (Math.floor(Math.max(index, 0) / PAGE) + 1) * PAGE;

export interface Drawn extends Section {
  /** The place of its first model in the whole list. */
  from: number;
}

/** The sections as far as the rows are drawn. */
export function drawnOf(sections: readonly Section[], limit: number, shift: number): readonly Drawn[] {
  const rows: Drawn[] = [];
  let from = 0;
  for (const { title, models } of sections) {
    if (from >= limit) break;
    rows.push({ title, models: models.slice(0, limit - from), from: from + shift });
    from += models.length;
  }
  return rows;
}
