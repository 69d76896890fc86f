// Which limit that the reader has set has cut an answer, and what it is called in the settings.
import type { ParameterName, Parameters } from "../types/api.ts";
import type { RunEnd, RunTrace } from "../types/models.ts";
import { RANGES } from "./parameters.ts";
import { count } from "./words.ts";

export interface ReachedLimit {
  name: ParameterName;
  value: number;
}

/** `set`: what the reader's settings say now. Undefined where the limit is the model's, the provider's or the server's. */
export function reachedLimit({ items }: RunTrace, { code }: RunEnd, set: Parameters): ReachedLimit | undefined {
  const warned = new Set(items.flatMap((item) => (item.kind === "warning" && item.code ? [item.code] : [])));
  const names: readonly [boolean, ParameterName][] = [
    [code === "LENGTH" || code === "REASONING_LENGTH", "max_tokens"],
    [warned.has("MAX_STEPS"), "max_steps"],
    [warned.has("TOOL_CLAMP"), "max_searches"],
  ];
  for (const [reached, name] of names) {
    const value = set[name];
    if (reached && value !== undefined) return { name, value };
  }
  return undefined;
}

/** The limit as the settings call it. */
export const limitWords = ({ name, value }: ReachedLimit): string =>
  `\u201c${RANGES[name].label}\u201d is set to ${count(value)} in your settings.`;
