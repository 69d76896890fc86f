import { describe, expect, it } from "vitest";
import type { RunItem } from "../../types/models.ts";
import { emptyTrace } from "../trace/reducer.ts";
import { isRaisable, limitsIn, limitText, reachedLimit } from "./reachedLimit.ts";

const warned = (code: string): RunItem => ({ kind: "warning", id: "warning-1", message: "", code });

describe("the limit that was reached", () => {
  it.each([
    ["LENGTH", [], { max_tokens: 40 }, { name: "max_tokens", value: 40 }],
    ["REASONING_LENGTH", [], { max_tokens: 40 }, { name: "max_tokens", value: 40 }],
    ["LENGTH", [], { max_steps: 2 }, undefined],
    ["STREAM_CUT", [], { max_tokens: 40 }, undefined],
    [undefined, [warned("MAX_STEPS")], { max_steps: 2 }, { name: "max_steps", value: 2 }],
    [undefined, [warned("MAX_STEPS")], {}, undefined],
    [undefined, [warned("TURN_LIMIT")], { max_steps: 3 }, { name: "max_steps", value: 3 }],
    [undefined, [warned("TOOL_CLAMP")], { max_searches: 1 }, { name: "max_searches", value: 1 }],
  ] as const)("%s %j %j", (code, items, set, limit) => {
    const end = { status: code ? "length" : "complete", ...(code && { code }) };
    expect(reachedLimit({ ...emptyTrace("m"), items }, end, set)).toEqual(limit);
  });

  it.each([
    [40, true],
    [30, true],
    [41, false],
    [undefined, false],
  ])("of 40 can be raised where the settings now say %s: %s", (now, can) => {
    expect(isRaisable({ name: "max_tokens", value: 40 }, now === undefined ? {} : { max_tokens: now })).toBe(can);
  });

  it("is read from a request", () => {
    expect(limitsIn({ max_tokens: 40, temperature: 1, max_steps: "2" })).toEqual({ max_tokens: 40 });
  });

  it("has the label of the settings", () => {
    const limit = { name: "max_tokens", value: 1200 } as const;
    expect(limitText(limit, { max_tokens: 1200 })).toBe("“Maximum answer length” is set to 1,200 in your settings.");
    const was = "“Maximum answer length” was set to 1,200 for this answer.";
    expect(limitText(limit, { max_tokens: 2000 })).toBe(`${was} It is now set to 2,000.`);
    expect(limitText(limit, {})).toBe(`${was} It is no longer set.`);
  });
});
