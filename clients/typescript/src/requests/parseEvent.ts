// Parses the data of an SSE frame to an event.
import type { Call, ChatEvent, UnknownEvent } from "../types/receivedEvents.ts";

type Json = Record<string, unknown>;
type Checks = Readonly<Record<string, (value: unknown) => boolean>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";
/** JSON numbers that are too large become Infinity. */
const isNumber = (value: unknown): value is number => Number.isFinite(value);
const isTime = (value: unknown): boolean => isNumber(value) && (value as number) >= 0;
const isTrue = (value: unknown): boolean => value === true;
const isLoop = (value: unknown): boolean => value === "v2" || value === "legacy";
const orAbsent = (check: (value: unknown) => boolean) => (value: unknown) => value === undefined || check(value);

const isUsage = (value: unknown): boolean =>
  isObject(value) &&
  [value.input, value.output].every(isNumber) &&
  [value.reasoning, value.cached].every(orAbsent(isNumber));
const isGap = (value: unknown): boolean => isObject(value) && isNumber(value.after) && isNumber(value.before);
const isFlag = (value: unknown): boolean => isObject(value) && isText(value.variant) && isText(value.reason);

const isListOf = (field: string) => (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && isText(item[field]));

const EVERY: Checks = { v: isText, run_id: isText, loop: isLoop, ts: isNumber, step: isNumber };
/** Checks of the optional fields that the page reads. */
const OPTIONAL: Record<ChatEvent["type"], Checks> = {
  reasoning: { ...EVERY, hidden: isTrue },
  content: { ...EVERY, refusal: isTrue, synthetic: isTrue, sources: isListOf("url"), images: isListOf("url") },
  preview: { ...EVERY, name: isText, key: isText, text: isText, withdrawn: isTrue },
  tool_calls: EVERY,
  tool_executing: { ...EVERY, category: isText, visibility: isText },
  tool_result: { ...EVERY, cached: isTrue, category: isText, visibility: isText },
  warning: { ...EVERY, code: isText },
  done: {
    ...EVERY,
    error: isText,
    code: isText,
    retryable: (value) => typeof value === "boolean",
    retry_after: isTime,
    usage: isUsage,
    cost: isNumber,
    cost_estimated: isTrue,
    requested_model: isText,
    model: isText,
    provider: isText,
    flag: isFlag,
    steps: isNumber,
    simulated: isTrue,
    duration_ms: isTime,
    first_token_ms: isTime,
    handed: (value) => Array.isArray(value) && value.every(isText),
    unsaved: isGap,
    upstream: isText,
  },
};

/**
 * Return the event if it has the minimum fields of its type, or a type that is unknown; otherwise undefined. Unknown
 * fields, statuses and codes are kept. Optional fields of the wrong type are removed.
 */
export function parseEvent(data: string): ChatEvent | UnknownEvent | undefined {
  try {
    const event: unknown = JSON.parse(data);
    return checkedEvent(event) ?? unknownEvent(event);
  } catch {
    return undefined;
  }
}

const unknownEvent = (event: unknown): UnknownEvent | undefined =>
  isObject(event) && isText(event.type) && !Object.hasOwn(OPTIONAL, event.type)
    ? { type: "unknown", raw: event as UnknownEvent["raw"] }
    : undefined;

/** Check an event that is an object already. Unknown types are ignored. */
export function checkedEvent(event: unknown): ChatEvent | undefined {
  if (!isObject(event)) return undefined;
  const known = parseKnown(event);
  if (!known) return undefined;
  const sound = withoutFaults(event, OPTIONAL[event.type as ChatEvent["type"]]);
  return { ...sound, ...known } as unknown as ChatEvent;
}

/** Check and convert the minimum fields. Undefined if one is missing. */
function parseKnown(event: Json): object | undefined {
  switch (event.type) {
    case "reasoning":
    case "content":
      return isText(event.content) ? {} : undefined;
    case "tool_calls": {
      if (!Array.isArray(event.calls)) return undefined;
      const calls = event.calls.map(parseCall).filter((call) => call !== undefined);
      return calls.length > 0 ? { calls } : undefined;
    }
    case "preview":
      return isText(event.id) ? {} : undefined;
    case "tool_executing":
      return isText(event.id) && isText(event.name) ? shown(event) : undefined;
    case "tool_result":
      if (!isText(event.id) || !isText(event.name)) return undefined;
      return { result: parseResult(event.result), ...shown(event) };
    case "warning":
      return isText(event.message) ? {} : undefined;
    case "done":
      return event.done === true
        ? { status: isText(event.status) && event.status ? event.status : "complete" }
        : undefined;
    default:
      return undefined;
  }
}

function withoutFaults(event: Json, checks: Checks): Json {
  const isFault = (name: string) => Object.hasOwn(event, name) && checks[name]?.(event[name]) === false;
  const faults = new Set(Object.keys(checks).filter(isFault));
  if (faults.size === 0) return event;
  return Object.fromEntries(Object.entries(event).filter(([name]) => !faults.has(name)));
}

/** The category and visibility of the event. Unknown values get the default. */
function shown({ category, visibility }: Json): Pick<Call, "category" | "visibility"> {
  return {
    ...(isText(category) && { category: category === "search" || category === "utility" ? category : "other" }),
    ...(isText(visibility) && {
      visibility: visibility === "primary" || visibility === "hidden" ? visibility : "secondary",
    }),
  };
}

function parseCall(value: unknown): Call | undefined {
  if (!isObject(value) || !isText(value.id) || !isText(value.name)) return undefined;
  const previewed = isSizes(value.previewed) && { previewed: value.previewed };
  return { id: value.id, name: value.name, arguments: argumentsOf(value), ...shown(value), ...previewed };
}

const isSizes = (value: unknown): value is Record<string, number> =>
  isObject(value) && Object.values(value).every(isNumber);

/** Version 0.1 sent an object, and the text only if it was not an object. */
function argumentsOf(call: Json): string {
  if (isText(call.arguments)) return call.arguments;
  if (isText(call.arguments_raw)) return call.arguments_raw;
  return isObject(call.arguments) ? JSON.stringify(call.arguments) : "{}";
}

/** A minimal server may send the bare result. It counts as a success. */
function parseResult(
  value: unknown,
): { success: true; result: unknown } | { success: false; error: string; code: string } {
  if (!isObject(value) || typeof value.success !== "boolean") return { success: true, result: value };
  if (value.success) return { success: true, result: value.result };
  return {
    success: false,
    error: isText(value.error) ? value.error : "The tool failed.",
    code: isText(value.code) ? value.code : "TOOL_FAILED",
  };
}
