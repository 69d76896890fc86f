// Previews: the string arguments of calls that the model is still writing.
import type { Call, Preview } from "@signalbox/client";
import type { CallItem, CallPreview, RunTrace } from "../../types/models.ts";

/** Add the next piece of an argument, or forget a withdrawn call. */
export function addPreview(trace: RunTrace, event: Preview): RunTrace {
  const { id, name, step, text = "" } = event;
  const all = trace.previews ?? [];
  const place = all.findIndex((preview) => preview.id === id);
  if (event.withdrawn) return place < 0 ? trace : withoutPreviews(trace, new Set([id]));
  const before = all[place];
  const key = event.key ?? before?.key;
  const tool = before?.name ?? name;
  // The page does not have the beginning of this call.
  if (key === undefined || tool === undefined) return trace;
  const preview: CallPreview = {
    ...(before ?? { id, name: tool, ...(step !== undefined && { step }) }),
    key,
    texts: { ...before?.texts, [key]: (before?.texts[key] ?? "") + text },
  };
  return { ...trace, previews: before ? all.with(place, preview) : [...all, preview] };
}

/** Remove the previews of these calls. */
export function withoutPreviews(trace: RunTrace, ids: ReadonlySet<string>): RunTrace {
  if (!trace.previews) return trace;
  const { previews, ...rest } = trace;
  const left = previews.filter(({ id }) => !ids.has(id));
  return left.length > 0 ? { ...rest, previews: left } : rest;
}

type Given = Pick<CallItem, "arguments" | "argumentsRaw">;

/** Put the previewed strings into the arguments of an announced call, where the event left them out. */
export function withPreviewed(given: Given, { id, previewed }: Call, { previews }: RunTrace): Given {
  const texts = previews?.find((preview) => preview.id === id)?.texts;
  if (!previewed || !texts || given.argumentsRaw !== undefined) return given;
  const filled = structuredClone(given.arguments);
  for (const pointer of Object.keys(previewed)) put(filled, pointer, texts[pointer]);
  return { arguments: filled };
}

/** Set the string at a JSON Pointer. */
function put(value: Record<string, unknown>, pointer: string, text: string | undefined): void {
  const parts = pointer.slice(1).split("/").map(unescaped);
  const last = parts.pop() ?? "";
  let inner: unknown = value;
  for (const part of parts) inner = isObject(inner) ? inner[part] : undefined;
  if (isObject(inner) && text !== undefined) inner[last] = text;
}

const unescaped = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
