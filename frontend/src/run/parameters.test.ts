import { describe, expect, it } from "vitest";
import { aModel } from "../fixtures/catalogue.ts";
import type { AskSettings, Tool } from "../types/api.ts";
import {
  askFields,
  changedCount,
  clamped,
  fillVariables,
  missingVariables,
  notTaken,
  PARAMETER_NAMES,
  RANGES,
  rangeOf,
  roughTokens,
  takes,
} from "./parameters.ts";

const PLAIN: AskSettings = { model: "a/b", effort: "auto", parameters: {}, toolsOff: [], system: "" };
const ABLE = aModel("a/b", { parameters: ["max_tokens", "reasoning", "temperature", "tools"] });
const UNABLE = aModel("a/c", { parameters: ["max_tokens", "top_k"] });
const SILENT = aModel("a/d", { parameters: [] });
const tool = (name: string, unavailable?: string): Tool => ({
  name,
  title: "",
  summary: "",
  description: "",
  category: "",
  visibility: "public",
  unavailable,
});
const TOOLS = [tool("search"), tool("time"), tool("calculator"), tool("paid", "No key is set.")];

describe("what is sent", () => {
  it("is nothing where nothing is set", () => {
    expect(askFields(PLAIN, ABLE, TOOLS)).toEqual({});
  });

  it("is what is set and what the model takes", () => {
    const settings: AskSettings = { ...PLAIN, effort: "high", parameters: { temperature: 0, top_k: 5, max_tokens: 9 } };
    expect(askFields(settings, ABLE, TOOLS)).toEqual({ temperature: 0, max_tokens: 9, reasoning: { effort: "high" } });
    expect(askFields(settings, UNABLE, TOOLS)).toEqual({ top_k: 5, max_tokens: 9 });
    for (const unknown of [undefined, SILENT])
      expect(askFields(settings, unknown, TOOLS)).toEqual({
        temperature: 0,
        top_k: 5,
        max_tokens: 9,
        reasoning: { effort: "high" },
      });
  });

  it("names the tools that stay, only where one is switched off", () => {
    expect(askFields({ ...PLAIN, toolsOff: ["time"] }, ABLE, TOOLS)).toEqual({ tools: ["search", "calculator"] });
    expect(askFields({ ...PLAIN, toolsOff: ["search", "time", "calculator"] }, ABLE, TOOLS)).toEqual({ tools: [] });
    expect(askFields({ ...PLAIN, toolsOff: ["gone", "paid"] }, ABLE, TOOLS)).toEqual({});
    expect(askFields({ ...PLAIN, toolsOff: ["time"] }, UNABLE, TOOLS)).toEqual({});
  });

  it("offers no tool that is switched off while the list of tools is not known", () => {
    expect(askFields({ ...PLAIN, toolsOff: ["time"] }, ABLE, [])).toEqual({ tools: [] });
  });

  it("leaves out what is set and not taken, and that can be told", () => {
    expect(notTaken({ temperature: 1, top_k: 5, max_tokens: 9 }, UNABLE)).toEqual(["temperature"]);
    expect(notTaken({ temperature: 1 }, SILENT)).toEqual([]);
  });

  it("may always have a limit", () => {
    expect(takes(aModel("a/b", { parameters: ["temperature"] }), "max_tokens")).toBe(true);
  });

  it("is counted where it differs from asking plainly", () => {
    expect(changedCount(PLAIN)).toBe(0);
    expect(
      changedCount({ model: "", effort: "low", parameters: { seed: 1 }, toolsOff: ["a", "b"], system: "Be brief." }),
    ).toBe(5);
  });
});

describe("ranges", () => {
  it.each(PARAMETER_NAMES)("of %s: where it rests is within, and stays as it is", (name) => {
    const range = RANGES[name];
    expect(clamped(range.rest, range)).toBe(range.rest);
    expect(range.slider === undefined || range.slider <= (range.max ?? Number.POSITIVE_INFINITY)).toBe(true);
  });

  it("hold a number within them", () => {
    expect(clamped(5, RANGES.temperature)).toBe(2);
    expect(clamped(-5, RANGES.temperature)).toBe(0);
    expect(clamped(0.1 + 0.2, RANGES.temperature)).toBe(0.3);
    expect(clamped(7.4, RANGES.top_k)).toBe(7);
    expect(clamped(0, RANGES.max_tokens)).toBe(1);
    expect(clamped(900_000, RANGES.max_tokens)).toBe(900_000);
  });

  it("the longest answer is the host's", () => {
    expect(rangeOf("max_tokens", aModel("a/b", { maxOutput: 64_000 })).slider).toBe(64_000);
    expect(rangeOf("max_tokens", undefined).slider).toBe(32_768);
    expect(rangeOf("top_p", ABLE)).toBe(RANGES.top_p);
  });
});

describe("variables", () => {
  const NOW = new Date(2026, 2, 5, 9, 7);

  it("date and time are filled in, others stay", () => {
    expect(fillVariables("On {{date}} at {{ time }}: {{name}} {{ }} {date}", NOW)).toBe(
      "On 2026-03-05 at 09:07: {{name}} {{ }} {date}",
    );
  });

  it("that nothing fills in are told, each once and with its place", () => {
    const text = "{{date}} {{name}} {{ name }} {{größe}} {{time}}";
    expect(missingVariables(text).map(({ name, start, end }) => [name, text.slice(start, end)])).toEqual([
      ["name", "{{name}}"],
      ["größe", "{{größe}}"],
    ]);
    expect(missingVariables("no {variables}")).toEqual([]);
  });

  it("a token is about four characters", () => {
    expect([roughTokens(""), roughTokens("abcd"), roughTokens("abcde")]).toEqual([0, 1, 2]);
  });
});
