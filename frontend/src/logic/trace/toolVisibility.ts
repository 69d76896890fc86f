// The category and visibility of a call, from its events or else from its tool's name.
import type { CallItem, Category, Visibility } from "../../types/models.ts";

interface Shown {
  category: Category;
  visibility: Visibility;
}

const BY_NAME = new Map<string, Shown>([
  ["search_web", { category: "search", visibility: "primary" }],
  ["read_url", { category: "other", visibility: "secondary" }],
  ["get_current_time", { category: "utility", visibility: "hidden" }],
  ["calculate", { category: "utility", visibility: "hidden" }],
]);
const OTHER: Shown = { category: "other", visibility: "secondary" };

/** The values for an announced call. */
export function visibilityOf(call: { name: string } & Partial<Shown>): Shown {
  const known = BY_NAME.get(call.name) ?? OTHER;
  return { category: call.category ?? known.category, visibility: call.visibility ?? known.visibility };
}

/** Apply the values of a later event. Returns the same object if nothing changes. */
export function withVisibility(
  call: CallItem,
  { category = call.category, visibility = call.visibility }: Partial<Shown>,
) {
  return category === call.category && visibility === call.visibility ? call : { ...call, category, visibility };
}
