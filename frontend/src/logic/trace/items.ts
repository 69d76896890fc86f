// Changes to the list of a trace's items that several events need.
import type { CallItem, ReasoningItem, RunItem, RunTrace } from "../../types/models.ts";

export const settled = (item: ReasoningItem, at?: number): ReasoningItem =>
  item.running ? { ...item, running: false, ...(at !== undefined && { endedAt: at }) } : item;

/** Usually nothing is running, and the list is returned unchanged. */
export function settleReasoning(items: readonly RunItem[], at?: number): readonly RunItem[] {
  const index = items.findLastIndex((item) => item.kind === "reasoning");
  const last = items[index];
  return last?.kind === "reasoning" && last.running ? items.with(index, settled(last, at)) : items;
}

export const isOpen = (call: CallItem): boolean => call.status === "waiting" || call.status === "running";

/** Whether the model is waiting for its tools. */
export const isUsingTools = ({ items }: RunTrace): boolean =>
  items.some((item) => item.kind === "call" && isOpen(item));

export function replace(items: readonly RunItem[], item: RunItem): readonly RunItem[] {
  const index = items.findLastIndex((old) => old.kind === item.kind && old.id === item.id);
  return items.with(index, item);
}

export const nextId = (trace: RunTrace, kind: RunItem["kind"]): string =>
  `${kind}-${trace.items.filter((item) => item.kind === kind).length + 1}`;
