// The names of models. The first screen needs them, but not the search of the model list.
import type { Model } from "../../types/api.ts";

/** A variant of a listed model (`:nitro`) counts as listed. So does every id while there is no list. */
export const isListed = (models: readonly Model[], id: string): boolean =>
  models.length === 0 || models.some((model) => model.id === id || id.startsWith(`${model.id}:`));

/** "OpenAI" of "OpenAI: GPT-4o", otherwise the first part of the id. */
export function providerOf({ id, name }: Model): string {
  const [provider, rest] = name.split(": ", 2);
  return rest && provider ? provider : (id.split("/")[0] ?? id);
}

/** "GPT-4o" of "OpenAI: GPT-4o". */
export const shortName = ({ name }: Model): string => name.slice(name.indexOf(": ") + 1).trim() || name;
