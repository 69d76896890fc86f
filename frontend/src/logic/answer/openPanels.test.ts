import type { Call, ChatEvent } from "@signalbox/client";
import { describe, expect, it } from "vitest";
import { connectionLost, emptyTrace, runReducer } from "../trace/reducer.ts";
import { panelsOf, SILENT_MS } from "./openPanels.ts";

const meta = { category: "search", visibility: "primary" } as const;
const think = (step = 1, content = "hm "): ChatEvent => ({ type: "reasoning", content, step });
const addText = (content = "word"): ChatEvent => ({ type: "content", content });
const calls = (given: Partial<Call>, ...ids: string[]): ChatEvent => ({
  type: "tool_calls",
  calls: ids.map((id) => ({ id, name: id, arguments: "{}", ...meta, ...given })),
});
const search = (...ids: string[]) => calls({}, ...ids);
const tool = (...ids: string[]) => calls({ category: "other" }, ...ids);
const hide = (...ids: string[]) => calls({ category: "utility", visibility: "hidden" }, ...ids);
const found = (id: string, over: object = {}): ChatEvent => ({
  type: "tool_result",
  id,
  name: id,
  result: { success: true, result: {} },
  ...meta,
  ...over,
});
const failed = (id: string): ChatEvent => ({
  type: "tool_result",
  id,
  name: id,
  result: { success: false, error: "no", code: "TOOL_FAILED" },
  ...meta,
});
const done: ChatEvent = { type: "done", done: true, status: "complete" };

const at = (silentMs: number, events: readonly ChatEvent[]) => {
  const { open, again } = panelsOf(events.reduce(runReducer, emptyTrace("m")), silentMs);
  return { open: [...open].toSorted(), again };
};
const R1 = "reasoning-1";
const R2 = "reasoning-2";

describe("the automatically open panels", () => {
  it.each<[string, number, ChatEvent[], string[], number?]>([
    ["nothing yet", 0, [], []],
    ["reasoning alone, however long it is silent", 9000, [think()], [R1]],
    ["reasoning, just when a search is called", 0, [think(), search("a")], [R1], SILENT_MS],
    ["the same, a little later", 349, [think(), search("a")], [R1], 1],
    ["the same, after the silence", SILENT_MS, [think(), search("a")], []],
    ["reasoning that goes on after the call", 10, [think(), search("a"), think()], [R1], 340],
    ["the same, silent again", 350, [think(), search("a"), think()], []],
    ["the first result", 0, [think(), search("a", "b"), found("b")], ["search-a"]],
    ["a first result that failed", 0, [think(), search("a"), failed("a")], ["search-a"]],
    [
      "reasoning that goes on after the first of two",
      0,
      [think(), search("a", "b"), found("b"), think()],
      [R1, "search-a"],
      350,
    ],
    ["a first result amid reasoning", 0, [think(), search("a"), think(), found("a")], ["search-a"]],
    ["a new block after the results", 0, [think(), search("a"), found("a"), think(2)], [R2, "search-a"]],
    ["a hidden call, which takes no focus", 0, [think(), hide("h"), found("h", { visibility: "hidden" })], [R1]],
    ["a second round that is called", 400, [think(), search("a"), found("a"), think(2), search("b")], ["search-a"]],
    [
      "a second round with its result",
      0,
      [think(), search("a"), found("a"), think(2), search("b"), found("b")],
      ["search-b"],
    ],
    [
      "rounds with nothing thought between are one",
      0,
      [search("a"), found("a"), search("b"), found("b")],
      ["search-a"],
    ],
    ["the answer", 0, [think(), search("a"), found("a"), think(2), addText()], []],
    ["blank text, which is no answer yet", 0, [think(), search("a"), found("a"), addText("\n\n")], ["search-a"]],
    ["words before the tools", 0, [addText("I look."), search("a"), found("a")], ["search-a"]],
    ["words before the tools that fold what was thought", 0, [think(), addText("I look."), search("a")], []],
    [
      "words that go on after an early result",
      0,
      [addText("I "), search("a", "b"), found("a"), addText("look.")],
      ["search-a"],
    ],
    [
      "the answer after words, tools and words",
      0,
      [addText("I look."), search("a"), found("a"), addText("\n\nFound.")],
      [],
    ],
    ["no reasoning", 0, [search("a")], []],
    ["other tools: what was thought stays", 9000, [think(), tool("a")], [R1]],
    ["other tools that have answered", 9000, [think(), tool("a"), found("a", { category: "other" })], []],
    ["the end", 0, [think(), search("a"), found("a"), done], []],
  ])("%s", (_, silentMs, events, open, again) => {
    expect(at(silentMs, events)).toEqual({ open, again });
  });

  it("are none after the connection is lost", () => {
    const trace = [think(), search("a"), found("a"), think(2)].reduce(runReducer, emptyTrace("m"));
    expect(panelsOf(connectionLost(trace), 0).open.size).toBe(0);
  });

  it("change without an event only when announced", () => {
    const events = [think(), search("a")];
    const { again } = at(100, events);
    expect(at(100 + (again ?? 0) - 1, events).open).toEqual([R1]);
    expect(at(100 + (again ?? 0), events)).toEqual({ open: [], again: undefined });
  });
});
