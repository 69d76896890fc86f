import { describe, expect, it } from "vitest";
import { fixture } from "../../fixtures/read.ts";
import type { ChatEvent, RunTrace } from "../../types/models.ts";
import { connectionLost, emptyTrace, runReducer } from "../trace/reducer.ts";
import { burstLamp, type Stop, sourcesOf, stopsOf, totalTimeMs, warningsOf } from "./stops.ts";

const play = (events: readonly ChatEvent[]): RunTrace => events.reduce(runReducer, emptyTrace("m"));

const brief = (stop: Stop): string => {
  switch (stop.kind) {
    case "reasoning":
    case "search":
    case "tools":
      return `${stop.kind} ${stop.lamp}`;
    case "file":
      return `${stop.id} ${stop.lamp}`;
    case "answer":
      return stop.kind;
    case "pending":
      return stop.label;
  }
};
const line = (events: readonly ChatEvent[]): string[] => stopsOf(play(events)).map(brief);

describe("the stops on the line", () => {
  it("are in order, with a burst of searches as one and without hidden tools", () => {
    expect(line(fixture("tools"))).toEqual([
      "reasoning done",
      "search done",
      "reasoning done",
      "answer",
      "tools failed",
      "reasoning done",
      "answer",
    ]);
  });

  it("never show a hidden call at any event of a run", () => {
    const events = fixture("tools");
    for (let length = 0; length <= events.length; length++) {
      expect(JSON.stringify(stopsOf(play(events.slice(0, length))))).not.toContain("get_current_time");
    }
  });

  it("have a running lamp before the first event", () => {
    expect(line([])).toEqual(["Waiting for the model"]);
  });

  it("show that the model thinks after the tools have finished", () => {
    const events = fixture("tools");
    const answered = events.findLastIndex((event) => event.type === "tool_result" && event.id === "c1");
    expect(line(events.slice(0, answered)).at(-1)).toBe("search running");
    expect(line(events.slice(0, answered + 1)).slice(-2)).toEqual(["search done", "Thinking"]);
  });

  it("include requested reasoning before its first text", () => {
    expect(stopsOf(play([]), true).map(brief)).toEqual(["Thinking"]);
  });

  it("combine the searches and the other tools of a burst, in any order", () => {
    const call = (id: string, category: "search" | "other"): ChatEvent => ({
      type: "tool_calls",
      calls: [{ id, name: id, arguments: "{}", category, visibility: "primary" }],
    });
    const events = [call("a", "search"), call("b", "other"), call("c", "search"), call("d", "other")];
    expect(stopsOf(play(events)).map(({ id }) => id)).toEqual(["search-a", "tools-b"]);
    const addText: ChatEvent = { type: "content", content: "x" };
    expect(stopsOf(play([...events, addText, call("e", "search")])).map(({ id }) => id)).toEqual([
      "search-a",
      "tools-b",
      "content-1",
      "search-e",
    ]);
  });

  describe("a file that the model writes", () => {
    const piece = (key: string, text: string, over: object = {}): ChatEvent => ({
      type: "preview",
      id: "a",
      key,
      text,
      ...over,
    });
    const path = piece("/path", "index.html", { name: "create_file" });
    const content = piece("/content", "<p>Hello");
    const meta = { category: "other", visibility: "secondary" } as const;
    const called: ChatEvent = {
      type: "tool_calls",
      calls: [{ id: "a", name: "create_file", arguments: '{"path":"index.html","content":"<p>Hello"}', ...meta }],
    };
    const stored: ChatEvent = {
      type: "tool_result",
      ...{ id: "a", name: "create_file", result: { success: true, result: {} }, ...meta },
    };

    it("is one stop from the first preview to the result", () => {
      const events = [path, content, called, stored];
      const seen = events.map((_, at) => line(events.slice(0, at + 1)).filter((stop) => stop.startsWith("file")));
      expect(seen).toEqual([...Array(3).fill(["file-a running"]), ["file-a done"]]);
    });

    it("is no stop once it is withdrawn", () => {
      expect(line([path, content, { type: "preview", id: "a", withdrawn: true }])).toEqual(["Waiting for the model"]);
    });

    it("is never left running when the run or the connection ends", () => {
      expect(line([path, content, { type: "done", done: true, status: "error" }])).toEqual([]);
      expect(stopsOf(connectionLost(play([path, content])))).toEqual([]);
      expect(stopsOf(connectionLost(play([path, called]))).map(brief)).toEqual(["file-a failed"]);
    });
  });

  describe("reasoning with only hidden tools in between", () => {
    const think = (content: string, step: number, ts: number): ChatEvent => ({ type: "reasoning", content, step, ts });
    const shown = { category: "utility", visibility: "hidden" } as const;
    const hidden: ChatEvent[] = [
      { type: "tool_calls", calls: [{ id: "h", name: "calculate", arguments: "{}", ...shown }], step: 1, ts: 3_000 },
      { type: "tool_executing", id: "h", name: "calculate", ...shown, step: 1, ts: 3_000 },
      {
        type: "tool_result",
        ...{ id: "h", name: "calculate", result: { success: true, result: 1 }, ...shown, step: 1, ts: 9_000 },
      },
    ];
    const events = [think("a", 1, 1_000), think("b", 1, 3_000), ...hidden, think("c", 2, 10_000)];

    it("is one stop, which keeps running during the tool call", () => {
      const seen = events.map((_, index) => line(events.slice(0, index + 1)));
      expect(seen).toEqual(events.map(() => ["reasoning running"]));
      expect(line([...events, { type: "content", content: "x" }])).toEqual(["reasoning done", "answer"]);
    });

    it("keeps both texts, and their times without the tool's", () => {
      const [stop] = stopsOf(play(events));
      if (stop?.kind !== "reasoning") throw new Error("no reasoning");
      expect(stop.id).toBe("reasoning-1");
      expect(stop.items.map(({ text }) => text)).toEqual(["ab", "c"]);
      expect(totalTimeMs(stop.items)).toBe(3_000);
    });

    it("stays two stops with a visible tool in between", () => {
      const visible: ChatEvent = {
        type: "tool_calls",
        calls: [{ id: "v", name: "read_url", arguments: "{}", category: "other", visibility: "secondary" }],
      };
      const stops = line([events[0] as ChatEvent, ...hidden, visible, think("c", 2, 10_000)]);
      expect(stops).toEqual(["reasoning done", "tools running", "reasoning running"]);
    });
  });

  it("mark the text that may still grow", () => {
    const events = fixture("tools");
    const settled = (length: number) =>
      stopsOf(play(events.slice(0, length))).flatMap((stop) => (stop.kind === "answer" ? [stop.settled] : []));
    expect(settled(events.findIndex((event) => event.type === "content") + 1)).toEqual([false]);
    expect(settled(events.length - 1)).toEqual([true, false]);
    expect(settled(events.length)).toEqual([true, true]);
  });

  it("have no lamp left running when the connection is lost", () => {
    const events = fixture("tools");
    for (let length = 0; length < events.length - 1; length++) {
      const lamps = stopsOf(connectionLost(play(events.slice(0, length)))).map(brief);
      expect(lamps.filter((text) => /running|Waiting|Thinking$/.test(text))).toEqual([]);
    }
  });
});

describe("the lamp of a burst", () => {
  const burst = (...ids: string[]) =>
    play(fixture("clamped")).items.filter((item) => item.kind === "call" && ids.includes(item.id)) as never;

  it.each([
    [["a"], "done"],
    [["b"], "blue"],
    [["a", "b"], "done"],
    [["d"], "waiting"],
    [["a", "d"], "done"],
    [["a", "c", "d"], "failed"],
  ])("of %j is %s", (ids, lamp) => {
    expect(burstLamp(burst(...ids))).toBe(lamp);
  });

  it("shows a failure until the panel was opened and another call succeeded", () => {
    expect(burstLamp(burst("a", "c", "d"), true)).toBe("done");
    expect(burstLamp(burst("c"), true)).toBe("failed");
  });
});

describe("facts derived from a trace", () => {
  it("include the sources by the server's number", () => {
    expect([...sourcesOf(play(fixture("tools")))].map(([n, link]) => [n, link.host])).toEqual([
      [2, "example.org"],
      [3, "example.org"],
      [1, "guide"],
    ]);
  });

  it("include the sources that a text could cite, with one link for a page with several sections", () => {
    const search = (id: string, url: string): ChatEvent[] => [
      { type: "tool_calls", calls: [{ id, name: "s", arguments: "{}", category: "search", visibility: "primary" }] },
      {
        type: "tool_result",
        id,
        name: "s",
        result: { success: true, result: { results: [{ n: 1, title: "t", url }] } },
        category: "search",
        visibility: "primary",
      },
    ];
    const addText = (content: string): ChatEvent => ({ type: "content", content });
    const trace = play([
      ...search("a", "/guide/a.md#x"),
      addText("first [1]"),
      ...search("b", "/guide/a.md#y"),
      addText("\n\none [1]"),
      ...search("c", "/guide/a.md#z"),
      addText("\n\ntwo [1]"),
    ]);
    const urls = (id?: string) => [...sourcesOf(trace, id).values()].map(({ url }) => url);
    expect([urls("content-1"), urls("content-2"), urls("content-3"), urls()]).toEqual([
      ["/guide/a.md#x"],
      ["/guide/a.md"],
      ["/guide/a.md"],
      ["/guide/a.md"],
    ]);
  });

  it("leave out the warning that the ending repeats", () => {
    expect(warningsOf(play(fixture("failed")))).toEqual([]);
    expect(warningsOf(play(fixture("clamped"))).map((item) => item.code)).toEqual(["TOOL_CLAMP", "FINAL_EMPTY"]);
  });
});
