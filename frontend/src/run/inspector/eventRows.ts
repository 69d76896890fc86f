// Run inspector: raw events as rows of a list, with deltas folded and a filter.
import type { RawEvent } from "../../types/api.ts";

export interface EventRow {
  /** Where it begins among all events; it stays the same while a fold grows. */
  key: number;
  /** The numbers of its first and its last event. */
  first: number;
  last: number;
  type: string;
  /** Epoch milliseconds of the first event that carries a time. */
  at: number | undefined;
  /** One line that says what is in it. */
  summary: string;
  events: readonly RawEvent[];
}

export interface EventFilter {
  /** Words that must be in it, in any case; empty: all. */
  text: string;
  /** Empty: all. */
  type: string;
  /** Deltas of one kind that follow each other are one row. */
  fold: boolean;
}

const FOLDED = new Set(["content", "reasoning"]);
const SUMMARY = 400;

const timeOf = ({ event }: RawEvent): number | undefined => (typeof event.ts === "number" ? event.ts : undefined);
const wordsOf = ({ event }: RawEvent): string => (typeof event.content === "string" ? event.content : "");

/** An event does not change: its text is made once. */
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
    // Words that several deltas make together are found as well.
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

/** Its type stands beside it. */
const restOf = ({ event: { type: _type, ...rest } }: RawEvent): string => JSON.stringify(rest);

/** The types that there are, in the order in which they came, with how many. */
export function typesOf(events: readonly RawEvent[]): ReadonlyMap<string, number> {
  const types = new Map<string, number>();
  for (const { event } of events) types.set(event.type, (types.get(event.type) ?? 0) + 1);
  return types;
}

/** What is shown, one event a line. */
export const rowsText = (rows: readonly EventRow[]): string =>
  rows.flatMap(({ events }) => events.map(eventText)).join("\n");
