import { describe, expect, it } from "vitest";
import { parseEvent } from "./parse.ts";

const parse = (event: unknown) => parseEvent(JSON.stringify(event));

describe("parseEvent", () => {
  it("keeps fields that it does not know, and an ending that is new", () => {
    const event = { type: "done", done: true, status: "paused", mood: "calm" };
    expect(parse(event)).toEqual(event);
  });

  it("fills in what a server that knows only the minimum leaves out", () => {
    expect(parse({ type: "tool_calls", calls: [{ id: "a", name: "f", arguments: '{"x":1}' }] })).toEqual({
      type: "tool_calls",
      calls: [
        { id: "a", name: "f", arguments: {}, arguments_raw: '{"x":1}', category: "other", visibility: "secondary" },
      ],
    });
    expect(parse({ type: "tool_result", id: "a", name: "f", result: [1] })).toMatchObject({
      result: { success: true, result: [1] },
    });
    expect(parse({ type: "tool_result", id: "a", name: "f", result: { success: false } })).toMatchObject({
      result: { success: false, error: "The tool failed.", code: "TOOL_FAILED" },
    });
    expect(parse({ type: "done", done: true })).toMatchObject({ status: "complete" });
  });

  it("takes an unknown category or visibility for the plain one", () => {
    expect(
      parse({ type: "tool_executing", id: "a", name: "f", category: "magic", visibility: "sometimes" }),
    ).toMatchObject({ category: "other", visibility: "secondary" });
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
    { type: "toString" },
  ])("makes nothing of %j", (event) => {
    expect(parse(event)).toBeUndefined();
  });
});
