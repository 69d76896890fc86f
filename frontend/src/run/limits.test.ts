import { describe, expect, it } from "vitest";
import type { RunItem } from "../types/models.ts";
import { limitWords, reachedLimit } from "./limits.ts";
import { emptyTrace } from "./reducer.ts";

const warned = (code: string): RunItem => ({ kind: "warning", id: "warning-1", message: "", code });

describe("the limit that was reached", () => {
  it.each([
    ["LENGTH", [], { max_tokens: 40 }, { name: "max_tokens", value: 40 }],
    ["REASONING_LENGTH", [], { max_tokens: 40 }, { name: "max_tokens", value: 40 }],
    ["LENGTH", [], { max_steps: 2 }, undefined],
    ["STREAM_CUT", [], { max_tokens: 40 }, undefined],
    [undefined, [warned("MAX_STEPS")], { max_steps: 2 }, { name: "max_steps", value: 2 }],
    [undefined, [warned("MAX_STEPS")], {}, undefined],
    [undefined, [warned("TOOL_CLAMP")], { max_searches: 1 }, { name: "max_searches", value: 1 }],
  ] as const)("%s %j %j", (code, items, set, limit) => {
    const end = { status: code ? "length" : "complete", ...(code && { code }) };
    expect(reachedLimit({ ...emptyTrace("m"), items }, end, set)).toEqual(limit);
  });

  it("is called what the settings call it", () => {
    expect(limitWords({ name: "max_tokens", value: 1200 })).toBe(
      "“Maximum answer length” is set to 1,200 in your settings.",
    );
  });
});
