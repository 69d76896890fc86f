// Search, filters and sections of the model list, and short texts for a model's facts.
import type { Model, Pricing } from "../../types/api.ts";
import { isListed, providerOf } from "./modelNames.ts";

export type Filter = "tools" | "reasoning" | "images" | "free";
export const FILTERS: readonly Filter[] = ["tools", "reasoning", "images", "free"];

export interface Section {
  /** Empty for search results, which are ordered by rank. */
  title: string;
  models: readonly Model[];
}

interface Wanted {
  query: string;
  filters: ReadonlySet<Filter>;
  starred: readonly string[];
  recent: readonly string[];
}

/**
 * The sections of the list: search results, or favourites followed by all models by provider. Each model appears once.
 */
export function sectionsOf(models: readonly Model[], { query, filters, starred, recent }: Wanted): readonly Section[] {
  const fitting = models.filter((model) => [...filters].every((filter) => passes(model, filter)));
  if (query.trim()) return filled([{ title: "", models: search(fitting, query) }]);
  const left = new Map(fitting.map((model) => [model.id, model]));
  const listed = new Set(models.map(({ id }) => id));
  const taken = new Set<string>();
  const takeModel = (id: string): Model[] => {
    // A favourite that is not in the catalogue can still be used. Its abilities are unknown.
    const model = left.get(id) ?? (listed.has(id) || filters.size > 0 ? undefined : unlistedOf(models, id));
    if (!model || taken.has(id)) return [];
    taken.add(id);
    left.delete(id);
    return [model];
  };
  const favourites = [
    { title: "Starred", models: starred.flatMap(takeModel) },
    { title: "Recent", models: recent.flatMap(takeModel) },
  ];
  return filled([...favourites, ...byProvider([...left.values()])]);
}

const filled = (sections: readonly Section[]): readonly Section[] => sections.filter(({ models }) => models.length > 0);

function byProvider(models: readonly Model[]): readonly Section[] {
  const groups = Map.groupBy(models, providerOf);
  return [...groups]
    .map(([title, members]) => ({ title, models: members }))
    .sort((a, b) => a.title.localeCompare(b.title, "en"));
}

export function passes(model: Model, filter: Filter): boolean {
  return filter === "free" ? isFree(model.pricing) : model.badges.includes(filter);
}

export const isFree = ({ prompt, completion }: Pricing): boolean => prompt === 0 && completion === 0;

/** A model of which only the id is known. */
export const unlistedOf = (models: readonly Model[], id: string): Model => ({
  id,
  name: id,
  badges: [],
  context: undefined,
  maxOutput: undefined,
  pricing: { prompt: undefined, completion: undefined },
  parameters: [],
  ...(!isListed(models, id) && { isGone: true }),
});

/** The first id that is not this model. Empty if there is none. */
export const otherModel = (model: string, ids: readonly string[]): string => ids.find((id) => id && id !== model) ?? "";

/** The models that contain every word of the query in any order, best first. */
export function search(models: readonly Model[], query: string): readonly Model[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return models
    .flatMap((model) => {
      const rank = rankOf(model, words);
      return rank === undefined ? [] : [{ model, rank }];
    })
    .sort((a, b) => a.rank - b.rank || a.model.id.length - b.model.id.length || (a.model.id < b.model.id ? -1 : 1))
    .map(({ model }) => model);
}

const EXACT = -100;
const PREFIX = -50;

/** Lower is better. Undefined if a word does not occur. */
function rankOf(model: Model, words: readonly string[]): number | undefined {
  const id = model.id.toLowerCase();
  const name = model.name.toLowerCase();
  let rank = wholeRank(words.join(" "), [id, id.slice(id.indexOf("/") + 1), name]);
  const text = [id, name, ...(model.upstreams ?? [])].join(" ");
  const squashed = squash(text);
  for (const word of words) {
    const fit = wordRank(word, text, squashed);
    if (fit === undefined) return undefined;
    rank += fit;
  }
  return rank;
}

function wholeRank(query: string, [id = "", ...others]: readonly string[]): number {
  if (id === query) return 2 * EXACT;
  if (others.includes(query)) return EXACT;
  return id.startsWith(query) || others.some((other) => other.startsWith(query)) ? PREFIX : 0;
}

/** 0: whole word, 1: prefix, 2: infix, 3: match only without punctuation ("gpt4o" in "gpt-4o"). */
function wordRank(word: string, text: string, squashed: string): number | undefined {
  let best: number | undefined;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const rank = isLetter(text[at - 1]) ? 2 : isLetter(text[at + word.length]) ? 1 : 0;
    best = Math.min(best ?? rank, rank);
  }
  const bare = squash(word);
  return best ?? (bare && squashed.includes(bare) ? 3 : undefined);
}

const isLetter = (sign: string | undefined): boolean => sign !== undefined && /[\p{L}\p{N}]/u.test(sign);

const squash = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, "");

/** 33k, 128k, 1M, 1.5M. */
export function tokenText(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return `${(tokens / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
}

/** USD per million tokens: $0.15, $3, $0.075. */
export function perMillion(perToken: number): string {
  // Round first: 0.0000001 × 1,000,000 is slightly less than 0.1.
  const usd = Math.round(perToken * 1e9) / 1000;
  if (usd === 0) return perToken === 0 ? "$0" : "<$0.001";
  const digits = usd < 0.1 && !Number.isInteger(Math.round(usd * 1000) / 10) ? 3 : usd < 100 ? 2 : 0;
  return `$${usd.toFixed(digits).replace(/\.00$/, "")}`;
}

/** "$0.15 · $0.60", "free", or empty if the catalogue has no price. */
export function priceText({ prompt, completion }: Pricing): string {
  if (prompt === undefined && completion === undefined) return "";
  if (isFree({ prompt, completion })) return "free";
  return [prompt, completion].map((usd) => (usd === undefined ? "?" : perMillion(usd))).join(" · ");
}

/** The query as an unlisted model id: a new model, or a routing variant (`:nitro`). */
export function freeId(models: readonly Model[], query: string): string | undefined {
  const id = query.trim();
  return id === "" || /\s/.test(id) || models.some((model) => model.id === id) ? undefined : id;
}
