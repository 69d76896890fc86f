import { describe, expect, it } from "vitest";
import type { ContentItem, Link, RunEnd, RunItem, RunTrace } from "../../types/models.ts";
import { answerText, sourcesOf, stopsOf, warningsOf } from "../answer/stops.ts";
import { joinedTrace } from "./joinedTrace.ts";

const LENGTH: RunEnd = { status: "length", code: "LENGTH", cost: 0.01, usage: usage(10) };
const DONE: RunEnd = { status: "complete", cost: 0.02, usage: usage(5) };

function usage(output: number): NonNullable<RunEnd["usage"]> {
  return { input: 100, output, reasoning: 1, cached: 2 };
}

const words = (text: string): ContentItem => ({
  kind: "content",
  id: "content-1",
  text,
  refusal: false,
  synthetic: false,
});
const thought: RunItem = { kind: "reasoning", id: "reasoning-1", text: "Hm.", hidden: false, running: false };

const search = (n: number): RunItem => {
  const link: Link = { n, title: `Page ${n}`, url: `https://example.org/${n}`, host: "example.org", snippet: "" };
  return {
    kind: "call",
    id: "call-1",
    name: "search_web",
    arguments: {},
    category: "search",
    visibility: "primary",
    status: "done",
    cached: false,
    links: [link],
  };
};

const trace = (items: readonly RunItem[], end?: RunEnd): RunTrace => ({
  schema: 1,
  runId: "run",
  model: "openai/sim",
  items,
  totalMs: 1000,
  firstEventMs: 300,
  ...(end && { end }),
});

describe("an answer and its continuation", () => {
  it("have one text, even if it was cut in the middle of a word", () => {
    const joined = joinedTrace([trace([words("The inter")], LENGTH), trace([words("national rules")], DONE)]);
    expect(answerText(joined)).toBe("The international rules");
    expect(stopsOf(joined).map(({ kind }) => kind)).toEqual(["answer"]);
  });

  it("have reasoning and calls of both above the text, with unique ids", () => {
    const before = trace([thought, search(1), words("One [1], ")], LENGTH);
    const joined = joinedTrace([before, trace([thought, search(2), words("two [2].")], DONE)]);
    expect(joined.items.map(({ kind }) => kind)).toEqual(["reasoning", "call", "reasoning", "call", "content"]);
    expect(new Set(joined.items.map(({ id }) => id)).size).toBe(5);
    expect([...sourcesOf(joined).keys()]).toEqual([1, 2]);
  });

  it("keep the text in place until the continuation's first text", () => {
    const joined = joinedTrace([trace([words("The inter")], LENGTH), trace([thought])]);
    expect(joined.items.map(({ kind }) => kind)).toEqual(["content", "reasoning"]);
  });

  it("have the total cost and time, and the last ending", () => {
    const joined = joinedTrace([trace([words("a")], LENGTH), trace([words("b")], DONE)]);
    expect(joined.end).toMatchObject({ status: "complete", cost: 0.03, usage: { input: 200, output: 15 } });
    expect(joined.end?.code).toBeUndefined();
    expect([joined.totalMs, joined.firstEventMs]).toEqual([2000, 300]);
  });

  it("have an estimated cost if one cost is unknown", () => {
    const joined = joinedTrace([trace([words("a")], LENGTH), trace([], { status: "error", code: "RATE_LIMIT" })]);
    expect(joined.end).toMatchObject({ cost: 0.01, cost_estimated: true });
    expect(answerText(joined)).toBe("a");
  });

  it("work for any number of continuations", () => {
    const runs = [trace([words("On")], LENGTH), trace([words("e, ")], LENGTH)];
    expect(answerText(joinedTrace([...runs, trace([words("two.")], DONE)]))).toBe("One, two.");
  });

  it("start a new paragraph after a complete answer", () => {
    const joined = joinedTrace([trace([words("So far.")], DONE), trace([words("More.")], DONE)]);
    expect(answerText(joined)).toBe("So far.\n\nMore.");
  });

  it("stay separate if the first ends with a sentence by Signalbox", () => {
    const ours = { ...words("No answer came."), synthetic: true };
    const joined = joinedTrace([trace([ours], LENGTH), trace([words("Here it is.")], DONE)]);
    expect(joined.items).toHaveLength(2);
  });

  it("drop the warning of an ending that was continued", () => {
    const warning = (code: string): RunItem => ({ kind: "warning", id: `warning-${code}`, code, message: code });
    const before = trace([warning("SLOW"), words("The inter"), warning("LENGTH")], LENGTH);
    const joined = joinedTrace([before, trace([words("national rules")], DONE)]);
    expect(warningsOf(joined).map(({ code }) => code)).toEqual(["SLOW"]);
  });

  it("return the same item for the same input", () => {
    const [before, more] = [trace([words("The inter")], LENGTH), trace([words("national")])];
    expect(joinedTrace([before, more]).items[0]).toBe(joinedTrace([before, { ...more }]).items[0]);
  });
});
