// Reasoning and text of a trace: how their events become items.
import type { Content, Reasoning } from "@signalbox/client";
import type { ContentItem, ReasoningItem, RunItem, RunTrace } from "../../types/models.ts";
import { isOpen, nextId, settleReasoning } from "./items.ts";
import { linksOf } from "./sources.ts";

export function addReasoning(trace: RunTrace, event: Reasoning, since: number | undefined): RunTrace {
  const at = event.ts ?? trace.lastAt;
  const index = openBlock(trace.items, event.step);
  const block = trace.items[index];
  if (block?.kind === "reasoning") {
    const grown: ReasoningItem = {
      ...block,
      text: block.text + event.content,
      hidden: block.hidden || event.hidden === true,
      running: true,
      ...(at !== undefined && { endedAt: at }),
    };
    return { ...trace, items: trace.items.with(index, grown) };
  }
  // Text events have no time. After text, reasoning starts with its first event.
  const startedAt = trace.items.at(-1)?.kind === "content" ? at : (since ?? at);
  const fresh: ReasoningItem = {
    kind: "reasoning",
    id: nextId(trace, "reasoning"),
    text: event.content,
    hidden: event.hidden === true,
    running: true,
    ...(event.step !== undefined && { step: event.step }),
    ...(startedAt !== undefined && { startedAt }),
    ...(at !== undefined && { endedAt: at }),
  };
  return { ...trace, items: [...settleReasoning(trace.items), fresh] };
}

/**
 * The index of the block that this reasoning continues, or -1. Results and text end a block. But an early result of the
 * same step may arrive in the middle of a sentence; then the block continues.
 */
function openBlock(items: readonly RunItem[], step: number | undefined): number {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] as RunItem;
    switch (item.kind) {
      case "reasoning":
        return step === undefined || item.step === undefined || item.step === step ? index : -1;
      case "content":
        return -1;
      case "call":
        if (step === undefined && !isOpen(item)) return -1;
        break;
      case "warning":
        break;
    }
  }
  return -1;
}

/** Text of a later step starts after a blank line. Text that early results interrupted continues. */
export function addContent(before: RunTrace, event: Content): RunTrace {
  if (event.images) return addImages(before, event);
  if (event.sources && !event.content) return addSources(before, event);
  const trace = event.sources ? addSources(before, event) : before;
  const items = settleReasoning(trace.items);
  const { index, interrupted } = lastContent(items);
  const last = items[index];
  const synthetic = event.synthetic === true;
  const startsAnew = interrupted && event.content.startsWith("\n\n");
  if (last?.kind === "content" && !startsAnew && last.synthetic === synthetic && !last.images) {
    const refusal = last.refusal || event.refusal === true;
    return { ...trace, items: items.with(index, { ...last, text: last.text + event.content, refusal }) };
  }
  return { ...trace, items: [...items, freshContent(trace, event)] };
}

const freshContent = (trace: RunTrace, event: Content): ContentItem => ({
  kind: "content",
  id: nextId(trace, "content"),
  text: event.content,
  refusal: event.refusal === true,
  synthetic: event.synthetic === true,
});

/** Images are separate items, so that texts and images keep their order. */
function addImages(trace: RunTrace, event: Content): RunTrace {
  const images = (event.images ?? []).map((image) => image.url);
  const items = settleReasoning(trace.items);
  const last = items.at(-1);
  if (last?.kind === "content" && last.images && !event.content)
    return { ...trace, items: items.with(-1, { ...last, images: [...last.images, ...images] }) };
  return { ...trace, items: [...items, { ...freshContent(trace, event), images }] };
}

/** Citations belong to the text before them. */
function addSources(trace: RunTrace, event: Content): RunTrace {
  const links = linksOf(event.sources);
  const index = trace.items.findLastIndex((item) => item.kind === "content");
  const last = trace.items[index];
  if (last?.kind === "content") {
    const cited: ContentItem = { ...last, links: [...(last.links ?? []), ...links] };
    return { ...trace, items: trace.items.with(index, cited) };
  }
  const fresh = { ...freshContent(trace, { ...event, content: "" }), links };
  return { ...trace, items: [...settleReasoning(trace.items), fresh] };
}

/** The index of the text that may continue because no reasoning followed it, or -1. `interrupted`: a call followed. */
function lastContent(items: readonly RunItem[]): { index: number; interrupted: boolean } {
  let interrupted = false;
  for (let index = items.length - 1; index >= 0; index--) {
    const kind = items[index]?.kind;
    if (kind === "content") return { index, interrupted };
    if (kind === "reasoning") break;
    if (kind === "call") interrupted = true;
  }
  return { index: -1, interrupted };
}
