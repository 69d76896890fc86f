// An answer and the runs that continue it, as one: their items in order, and their words as one document.
import type { ContentItem, RunEnd, RunItem, RunTrace } from "../../types/models.ts";
import { added } from "./overlap.ts";

/** The trace of the whole answer: its runs in order, each of which continues the one before it. */
export const joinedTrace = (runs: readonly RunTrace[]): RunTrace => runs.reduce(behind);

function behind(trace: RunTrace, more: RunTrace, place: number): RunTrace {
  const end = more.end && summed(trace.end, more.end);
  return {
    ...more,
    model: more.model || trace.model,
    items: itemsBehind(trace, more, place),
    ...(trace.firstEventMs !== undefined && { firstEventMs: trace.firstEventMs }),
    ...(more.totalMs !== undefined && { totalMs: more.totalMs + (trace.totalMs ?? 0) }),
    ...(end && { end }),
  };
}

/** What the whole answer took; how it ended is how its last run did. */
function summed(before: RunEnd | undefined, end: RunEnd): RunEnd {
  const usage = before?.usage && end.usage && add(before.usage, end.usage);
  const costs = [before?.cost, end.cost].filter((cost) => cost !== undefined);
  return {
    ...end,
    ...(usage && { usage }),
    ...(costs.length > 0 && { cost: costs.reduce((sum, cost) => sum + cost, 0) }),
    ...((before?.cost_estimated || end.cost_estimated || costs.length === 1) && { cost_estimated: true }),
  };
}

type Usage = NonNullable<RunEnd["usage"]>;

const add = (one: Usage, other: Usage): Usage => ({
  ...one,
  input: one.input + other.input,
  output: one.output + other.output,
  reasoning: (one.reasoning ?? 0) + (other.reasoning ?? 0),
  cached: (one.cached ?? 0) + (other.cached ?? 0),
});

/** What a continuation thinks and calls before its first word stands above the words that it goes on with. */
function itemsBehind(trace: RunTrace, more: RunTrace, place: number): readonly RunItem[] {
  const items = more.items.map((item) => named(item, place));
  const before = withoutEnding(trace);
  const seam = before.findLastIndex((item) => item.kind !== "warning");
  const words = items.findIndex((item) => item.kind === "content");
  const [cut, next] = [before[seam], items[words]];
  if (!isProse(cut) || !isProse(next)) return [...before, ...items];
  return [
    ...before.filter((_, at) => at !== seam),
    ...items.slice(0, words),
    joinedWords(cut, next, trace.end?.status === "complete", more.end !== undefined || words < items.length - 1),
    ...items.slice(words + 1),
  ];
}

/** The warning of an ending is no longer true of an answer that goes on; the row of its run still tells it. */
const withoutEnding = ({ items, end }: RunTrace): readonly RunItem[] =>
  end?.code ? items.filter((item) => item.kind !== "warning" || item.code !== end.code) : items;

/** The model's own words, which others may be put behind. */
const isProse = (item: RunItem | undefined): item is ContentItem =>
  item?.kind === "content" && !item.synthetic && !item.refusal && !item.images;

interface Joined {
  cut: ContentItem;
  isWhole: boolean;
  words: ContentItem;
}

/** The same items give the same item again, so that what has not changed is not drawn again. */
const joints = new WeakMap<ContentItem, Joined>();

function joinedWords(cut: ContentItem, next: ContentItem, wasComplete: boolean, isWhole: boolean): ContentItem {
  const known = joints.get(next);
  if (known?.cut === cut && known.isWhole === isWhole) return known.words;
  const more = wasComplete ? `\n\n${next.text.trimStart()}` : added(cut.text, next.text, isWhole);
  const words = { ...next, id: cut.id, text: cut.text + more, ...linksOf(cut, next) };
  joints.set(next, { cut, isWhole, words });
  return words;
}

const linksOf = (cut: ContentItem, next: ContentItem): Pick<ContentItem, "links"> => {
  const links = [...(cut.links ?? []), ...(next.links ?? [])];
  return links.length > 0 ? { links } : {};
};

/** Ids count in each run from one. */
const names = new WeakMap<RunItem, RunItem>();

function named(item: RunItem, place: number): RunItem {
  const known = names.get(item);
  if (known) return known;
  const renamed = { ...item, id: `${item.id}~${place}` };
  names.set(item, renamed);
  return renamed;
}
