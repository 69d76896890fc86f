// Turns raw events into the rows of the inspector's event list: groups deltas and filters.
import type { RawEvent } from "../../types/api.ts";

export interface EventRow {
  /** The index of its first event, which is stable while a group grows. */
  key: number;
  /** The sequence numbers of its first and last event. */
  first: number;
  last: number;
  type: string;
  /** Epoch milliseconds of the first event with a time. */
  at: number | undefined;
  /** The content in one line. */
  summary: string;
  events: readonly RawEvent[];
}

export interface EventFilter {
  /** Text that the row must contain, ignoring case. Empty: any. */
  text: string;
  /** Empty: any. */
  type: string;
  /** Consecutive deltas of the same type form one row. */
  fold: boolean;
}

const FOLDED = new Set(["content", "reasoning"]);
const SUMMARY = 400;

const timeOf = ({ event }: RawEvent): number | undefined => (typeof event.ts === "number" ? event.ts : undefined);
const wordsOf = ({ event }: RawEvent): string => (typeof event.content === "string" ? event.content : "");

/** Events are immutable, so their JSON is cached. */
const texts = new WeakMap<RawEvent, string>();

export function eventText(event: RawEvent): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = JSON.stringify(event.event);
  texts.set(event, text);
  return text;
}

export function eventRows(events: readonly RawEvent[], { text, type, fold }: EventFilter): readonly EventRow[] {
  const wanted = text.trim().toLowerCase();
  const rows: EventRow[] = [];
  for (let from = 0; from < events.length; ) {
    const first = events[from] as RawEvent;
    let to = from + 1;
    if (fold && FOLDED.has(first.event.type)) while (to < events.length && goesOn(first, events[to])) to++;
    const part = events.slice(from, to);
    from = to;
    if (type && first.event.type !== type) continue;
    const words = part.length > 1 ? part.map(wordsOf).join("") : undefined;
    // Also matches text that spans several deltas.
    const found =
      !wanted || words?.toLowerCase().includes(wanted) || part.some((e) => eventText(e).toLowerCase().includes(wanted));
    if (found) rows.push(rowOf(part, first, words, from - part.length));
  }
  return rows;
}

const goesOn = (first: RawEvent, next: RawEvent | undefined): boolean =>
  next?.event.type === first.event.type && next.event.step === first.event.step;

function rowOf(part: readonly RawEvent[], first: RawEvent, words: string | undefined, key: number): EventRow {
  return {
    key,
    first: first.seq,
    last: part.at(-1)?.seq ?? first.seq,
    type: first.event.type,
    at: part.map(timeOf).find((at) => at !== undefined),
    summary: (words === undefined ? restOf(first) : JSON.stringify(words)).slice(0, SUMMARY),
    events: part,
  };
}

/** The type has a separate column. */
const restOf = ({ event: { type: _type, ...rest } }: RawEvent): string => JSON.stringify(rest);

/** The number of events by type, in order of first occurrence. */
export function typesOf(events: readonly RawEvent[]): ReadonlyMap<string, number> {
  const types = new Map<string, number>();
  for (const { event } of events) types.set(event.type, (types.get(event.type) ?? 0) + 1);
  return types;
}

/** The shown events as JSON lines. */
export const rowsText = (rows: readonly EventRow[]): string =>
  rows.flatMap(({ events }) => events.map(eventText)).join("\n");
