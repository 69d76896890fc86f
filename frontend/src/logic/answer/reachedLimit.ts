// The request's limit that cut an answer, and its label in the settings.
import type { ParameterName, Parameters } from "../../types/api.ts";
import type { RunEnd, RunTrace } from "../../types/models.ts";
import { RANGES } from "../request/parameters.ts";
import { count } from "../wording/statusAndAmounts.ts";

export interface ReachedLimit {
  name: ParameterName;
  /** The limit's value in the request. */
  value: number;
}

const LIMITS = ["max_tokens", "max_steps", "max_searches"] as const satisfies readonly ParameterName[];

/** Extract the limits from a request. */
export function limitsIn(request: Readonly<Record<string, unknown>>): Parameters {
  const given = LIMITS.map((name) => [name, request[name]] as const);
  return Object.fromEntries(given.filter(([, value]) => typeof value === "number"));
}

/** The limits that an answer reached, whether or not the request set them. */
function metBy({ items }: RunTrace, { code }: RunEnd): readonly ParameterName[] {
  const warned = new Set(items.flatMap((item) => (item.kind === "warning" && item.code ? [item.code] : [])));
  const met: readonly [boolean, ParameterName][] = [
    [code === "LENGTH" || code === "REASONING_LENGTH", "max_tokens"],
    [warned.has("MAX_STEPS") || warned.has("TURN_LIMIT"), "max_steps"],
    [warned.has("TOOL_CLAMP"), "max_searches"],
  ];
  return met.flatMap(([isMet, name]) => (isMet ? [name] : []));
}

export const hasMetLimit = (trace: RunTrace): boolean => trace.end !== undefined && metBy(trace, trace.end).length > 0;

/** `asked` has the request's limits. Returns undefined if the limit is the model's, the provider's or the server's. */
export function reachedLimit(trace: RunTrace, end: RunEnd, asked: Parameters = {}): ReachedLimit | undefined {
  for (const name of metBy(trace, end)) {
    const value = asked[name];
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

/** `now` has the limits in the current settings. */
export const isRaisable = ({ name, value }: ReachedLimit, now: Parameters): boolean => (now[name] ?? Infinity) <= value;

/** A sentence with the setting's label and value. If the setting has changed since, it has both values. */
export function limitText({ name, value }: ReachedLimit, now: Parameters): string {
  const label = `\u201c${RANGES[name].label}\u201d`;
  const today = now[name];
  if (today === value) return `${label} is set to ${count(value)} in your settings.`;
  const changed = today === undefined ? "It is no longer set." : `It is now set to ${count(today)}.`;
  return `${label} was set to ${count(value)} for this answer. ${changed}`;
}
