// Joins the traces of an answer and its continuations.
import type { ContentItem, RunEnd, RunItem, RunTrace } from "../../types/models.ts";
import { addedText } from "./overlap.ts";

/** The trace of the whole answer. Each run continues the previous one. */
export const joinedTrace = (runs: readonly RunTrace[]): RunTrace => runs.reduce(appended);

function appended(trace: RunTrace, more: RunTrace, place: number): RunTrace {
  const end = more.end && summed(trace.end, more.end);
  return {
    ...more,
    model: more.model || trace.model,
    items: joinedItems(trace, more, place),
    ...(trace.firstEventMs !== undefined && { firstEventMs: trace.firstEventMs }),
    ...(more.totalMs !== undefined && { totalMs: more.totalMs + (trace.totalMs ?? 0) }),
    ...(end && { end }),
  };
}

/** The sum of usage and cost. The other fields are those of the last run. */
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

/** Reasoning and calls of a continuation are placed above the text that it continues. */
function joinedItems(trace: RunTrace, more: RunTrace, place: number): readonly RunItem[] {
  const items = more.items.map((item) => named(item, place));
  const before = withoutEnding(trace);
  const seam = before.findLastIndex((item) => item.kind !== "warning");
  const words = items.findIndex((item) => item.kind === "content");
  const [cut, next] = [before[seam], items[words]];
  if (!isProse(cut) || !isProse(next)) return [...before, ...items];
  return [
    ...before.filter((_, at) => at !== seam),
    ...items.slice(0, words),
    joinedText(cut, next, trace.end?.status === "complete", more.end !== undefined || words < items.length - 1),
    ...items.slice(words + 1),
  ];
}

/** Remove the warning about the first ending, which no longer applies. The row of its run still shows it. */
const withoutEnding = ({ items, end }: RunTrace): readonly RunItem[] =>
  end?.code ? items.filter((item) => item.kind !== "warning" || item.code !== end.code) : items;

/** Text of the model that can be continued. */
const isProse = (item: RunItem | undefined): item is ContentItem =>
  item?.kind === "content" && !item.synthetic && !item.refusal && !item.images;

interface Joined {
  cut: ContentItem;
  isWhole: boolean;
  words: ContentItem;
}

/** Cached, so that unchanged items are not rendered again. */
const joints = new WeakMap<ContentItem, Joined>();

function joinedText(cut: ContentItem, next: ContentItem, wasComplete: boolean, isWhole: boolean): ContentItem {
  const known = joints.get(next);
  if (known?.cut === cut && known.isWhole === isWhole) return known.words;
  const more = wasComplete ? `\n\n${next.text.trimStart()}` : addedText(cut.text, next.text, isWhole);
  const words = { ...next, id: cut.id, text: cut.text + more, ...linksOf(cut, next) };
  joints.set(next, { cut, isWhole, words });
  return words;
}

const linksOf = (cut: ContentItem, next: ContentItem): Pick<ContentItem, "links"> => {
  const links = [...(cut.links ?? []), ...(next.links ?? [])];
  return links.length > 0 ? { links } : {};
};

/** Item ids count from one in each run, so later runs get a suffix. */
const names = new WeakMap<RunItem, RunItem>();

function named(item: RunItem, place: number): RunItem {
  const known = names.get(item);
  if (known) return known;
  const renamed = { ...item, id: `${item.id}~${place}` };
  names.set(item, renamed);
  return renamed;
}
