// Labels for compared models: short names and makers, all distinct.
import type { Model } from "../../types/api.ts";
import { providerOf, shortName } from "./modelNames.ts";

export interface ModelLabel {
  /** "Claude Sonnet 4" */
  name: string;
  /** "Anthropic". Empty if the id names no provider. */
  maker: string;
}

/** "Claude Sonnet 4 · Anthropic" */
export const labelText = ({ name, maker }: ModelLabel): string => (maker ? `${name} · ${maker}` : name);

/** The label of each id. Models with the same label use their ids as names. */
export function labelsOf(models: readonly Model[], ids: readonly string[]): ReadonlyMap<string, ModelLabel> {
  const labels = new Map(ids.map((id) => [id, labelOf(models, id)]));
  const uses = Map.groupBy(labels.values(), labelText);
  for (const [id, label] of labels) {
    if ((uses.get(labelText(label))?.length ?? 0) > 1) labels.set(id, { ...label, name: id });
  }
  return labels;
}

function labelOf(models: readonly Model[], id: string): ModelLabel {
  const model = models.find((one) => one.id === id);
  if (model) return { name: shortName(model), maker: providerOf(model) };
  // Another model of the same maker shows how the maker's name is written.
  const slash = id.indexOf("/");
  if (slash < 1) return { name: id, maker: "" };
  const sibling = models.find((one) => one.id.startsWith(id.slice(0, slash + 1)));
  return { name: id.slice(slash + 1), maker: sibling ? providerOf(sibling) : id.slice(0, slash) };
}

/** Replace a model. If the new model is compared already, the two swap places. */
export const withChanged = (ids: readonly string[], from: string, to: string): readonly string[] =>
  ids.map((id) => (id === from ? to : id === to ? from : id));
