import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseEvent } from "../src/requests/parseEvent.ts";

const parse = (event: unknown) => parseEvent(JSON.stringify(event));

describe("parseEvent", () => {
  it("keeps unknown fields and an unknown status", () => {
    const event = { type: "done", done: true, status: "paused", mood: "calm", code: "NEW_CODE" };
    expect(parse(event)).toEqual(event);
  });

  it("adds defaults that a minimal server leaves out", () => {
    expect(parse({ type: "tool_calls", calls: [{ id: "a", name: "f", arguments: '{"x":1}' }] })).toEqual({
      type: "tool_calls",
      calls: [{ id: "a", name: "f", arguments: '{"x":1}' }],
    });
    expect(parse({ type: "tool_result", id: "a", name: "f", result: [1] })).toMatchObject({
      result: { success: true, result: [1] },
    });
    expect(parse({ type: "tool_result", id: "a", name: "f", result: { success: false } })).toMatchObject({
      result: { success: false, error: "The tool failed.", code: "TOOL_FAILED" },
    });
    expect(parse({ type: "done", done: true })).toMatchObject({ status: "complete" });
  });

  it("reads call arguments of version 0.1: an object, or the text of an invalid one", () => {
    const argumentsOf = (call: object) => {
      const event = parse({ type: "tool_calls", calls: [{ id: "a", name: "f", ...call }] });
      return event?.type === "tool_calls" ? event.calls[0]?.arguments : undefined;
    };
    expect(argumentsOf({ arguments: { x: 1 } })).toBe('{"x":1}');
    expect(argumentsOf({ arguments: {}, arguments_raw: '{"x' })).toBe('{"x');
    expect(argumentsOf({})).toBe("{}");
    expect(argumentsOf({ arguments: null })).toBe("{}");
  });

  it.each(["plan", "unknown", "toString", ""])("keeps an event of the unknown type %j as it is", (type) => {
    const event = { type, content: "1. Read", nested: { a: [1] } };
    expect(parse(event)).toEqual({ type: "unknown", raw: event });
  });

  it("replaces an unknown category or visibility by the default", () => {
    expect(
      parse({ type: "tool_executing", id: "a", name: "f", category: "magic", visibility: "sometimes" }),
    ).toMatchObject({ category: "other", visibility: "secondary" });
  });

  it("leaves out category and visibility if they are not strings", () => {
    const bare = { type: "tool_executing", id: "a", name: "f" };
    expect(parse(bare)).toEqual(bare);
    expect(parse({ ...bare, category: 1, visibility: null })).toEqual(bare);
    expect(parse({ ...bare, category: "search" })).toEqual({ ...bare, category: "search" });
  });

  it("drops optional fields of the wrong type, and keeps the rest", () => {
    expect(
      parse({
        type: "done",
        done: true,
        status: "error",
        loop: "v9",
        ts: "now",
        usage: { input: "many", output: 1 },
        cost: null,
        flag: "on",
        retry_after: -1,
        handed: ["a", 1],
        steps: 2,
      }),
    ).toEqual({ type: "done", done: true, status: "error", steps: 2 });
    expect(parseEvent('{"type":"reasoning","content":"a","ts":1e999,"step":1}')).toEqual({
      type: "reasoning",
      content: "a",
      step: 1,
    });
  });

  it.each([
    null,
    [],
    "text",
    {},
    { type: "tool_calls" },
    { type: "tool_calls", calls: [] },
    { type: "tool_calls", calls: [{ name: "f" }] },
    { type: "tool_executing", id: "a" },
    { type: "tool_result", name: "f", result: {} },
    { type: "warning" },
    { type: "done" },
  ])("is empty for %j", (event) => {
    expect(parse(event)).toBeUndefined();
  });
});

const text = fc.string();
const anything = fc.jsonValue({ maxDepth: 2 });
const count = fc.nat();
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const category = fc.constantFrom("search", "utility", "other");
const visibility = fc.constantFrom("primary", "secondary", "hidden");
const yes = fc.constant(true);
const every = { step: sometimes(count), ts: sometimes(count), v: sometimes(text), run_id: sometimes(text) };
const of = <T>(type: string, fields: Record<string, fc.Arbitrary<T>>) =>
  fc.record<Record<string, unknown>>({ type: fc.constant(type), ...every, ...fields });

const json = fc.dictionary(text, anything);
const call = fc.record({ id: text, name: text, arguments: text, category, visibility });
const result = fc.oneof(
  fc.record({ success: yes, result: anything }),
  fc.record({ success: fc.constant(false), error: text, code: text }),
);
/** Arbitrary events of the contract. */
const sound: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  of<unknown>("reasoning", { content: text, hidden: sometimes(yes) }),
  of<unknown>("content", { content: text, refusal: sometimes(yes), synthetic: sometimes(yes) }),
  of<unknown>("tool_calls", { calls: fc.array(call, { minLength: 1, maxLength: 3 }) }),
  of<unknown>("tool_executing", { id: text, name: text, category, visibility }),
  of<unknown>("tool_result", { id: text, name: text, result, category, visibility, cached: sometimes(yes) }),
  of<unknown>("warning", { message: text, code: sometimes(text) }),
  of<unknown>("done", {
    done: yes,
    status: fc.constantFrom("complete", "cancelled", "interrupted", "error", "length", "content_filter", "paused"),
    code: sometimes(text),
    cost: sometimes(fc.double({ min: 0, max: 9, noNaN: true })),
    usage: sometimes(fc.record({ input: count, output: count, cached: sometimes(count) })),
    flag: sometimes(fc.record({ variant: text, reason: text })),
    retry_after: sometimes(count),
    retryable: sometimes(fc.boolean()),
    handed: sometimes(fc.array(text)),
  }),
);
const faithful = (event: unknown): unknown => JSON.parse(JSON.stringify(event));

/** What the page may assume about any event, written independently of the parser. */
function faultOf(event: Record<string, unknown>): string | undefined {
  const kinds: Record<string, string> = {
    v: "string",
    run_id: "string",
    ts: "number",
    step: "number",
    cost: "number",
    steps: "number",
    retry_after: "number",
    retryable: "boolean",
    error: "string",
    code: "string",
    model: "string",
    provider: "string",
    requested_model: "string",
  };
  const isNew = event.type !== "done" ? ["v", "run_id", "ts", "step", "code"] : Object.keys(kinds);
  const flags = ["hidden", "refusal", "synthetic", "cached", "simulated", "cost_estimated"];
  const read: Record<string, readonly string[]> = {
    reasoning: ["hidden"],
    content: ["refusal", "synthetic"],
    tool_result: ["cached"],
    done: ["simulated", "cost_estimated"],
  };
  for (const name of isNew) {
    if (name === "code" && event.type !== "done" && event.type !== "warning") continue;
    if (Object.hasOwn(event, name) && typeof event[name] !== kinds[name]) return name;
  }
  for (const name of flags)
    if (read[String(event.type)]?.includes(name) && Object.hasOwn(event, name) && event[name] !== true) return name;
  return undefined;
}

describe("any event", () => {
  it("of the contract is kept unchanged, including extra fields", () => {
    fc.assert(
      fc.property(sound, json, (event, more) => {
        const extra = Object.fromEntries(Object.entries(more).map(([name, value]) => [`x-${name}`, value]));
        const sent = faithful({ ...event, ...extra });
        expect(parse(sent)).toEqual(sent);
      }),
    );
  });

  it("with fields of any type is a valid event or is dropped", () => {
    const spoiled = fc
      .tuple(sound, fc.infiniteStream(anything), fc.infiniteStream(fc.nat(2)))
      .map(([event, values, dice]) =>
        Object.fromEntries(
          Object.entries(event).map(([name, value]) => {
            const isSpoiled = name !== "type" && dice.next().value === 0;
            return [name, isSpoiled ? values.next().value : value];
          }),
        ),
      );
    fc.assert(
      fc.property(fc.array(spoiled, { maxLength: 8 }), (events) => {
        const read = events.map(parse).filter((event) => event !== undefined);
        for (const event of read) {
          const fault = faultOf({ ...event });
          if (fault) expect.fail(`${fault} of ${JSON.stringify(event)}`);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("that is any JSON, or no JSON, does not throw", () => {
    fc.assert(fc.property(fc.json({ maxDepth: 2 }), (data) => void parseEvent(data)));
    fc.assert(fc.property(fc.string(), (data) => void parseEvent(data)));
  });
});
