import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventsOf, fixture, fixtures } from "../../fixtures/read.ts";
import type { CallItem, ChatEvent, RunTrace } from "../../types/models.ts";
import { answerText } from "../answer/stops.ts";
import { connectionLost, emptyTrace, refused, runReducer, stoppedLocally } from "./reducer.ts";

const play = (events: readonly ChatEvent[], from = emptyTrace("m")): RunTrace => events.reduce(runReducer, from);

const calls = (trace: RunTrace): CallItem[] => trace.items.filter((item) => item.kind === "call");
const reasoningOf = (trace: RunTrace): string[] =>
  trace.items.flatMap((item) => (item.kind === "reasoning" ? [item.text] : []));
const said = (events: readonly ChatEvent[], type: "content" | "reasoning"): string =>
  events.map((event) => (event.type === type ? event.content : "")).join("");

const isOpen = (call: CallItem): boolean => call.status === "waiting" || call.status === "running";

const meta = { category: "search", visibility: "primary" } as const;
const think = (content: string, step?: number): ChatEvent => ({ type: "reasoning", content, ...(step && { step }) });
const say = (content: string): ChatEvent => ({ type: "content", content });
const announce = (...ids: string[]): ChatEvent => ({
  type: "tool_calls",
  calls: ids.map((id) => ({ id, name: "f", arguments: "{}", ...meta })),
});
const execute = (id: string): ChatEvent => ({ type: "tool_executing", id, name: "f", ...meta });
const answer = (id: string, result: unknown = null): ChatEvent => ({
  type: "tool_result",
  id,
  name: "f",
  result: { success: true, result },
  ...meta,
});
const done: ChatEvent = { type: "done", done: true, status: "complete" };

describe("a call's arguments", () => {
  const calledWith = (text: string) => {
    const [call] = calls(play([{ type: "tool_calls", calls: [{ id: "a", name: "f", arguments: text, ...meta }] }]));
    return [call?.arguments, call?.argumentsRaw];
  };

  it("are the object that the text holds", () => {
    expect(calledWith('{"query":"foo","__proto__":1}')).toEqual([
      JSON.parse('{"query":"foo","__proto__":1}'),
      undefined,
    ]);
    expect(calledWith("")).toEqual([{}, undefined]);
  });

  it.each(['{"que', "[1]", '"text"', "null", "5"])("stay the text %s where it holds none", (text) => {
    expect(calledWith(text)).toEqual([{}, text]);
  });
});

describe("where a call is shown", () => {
  const bare = (...names: string[]): ChatEvent => ({
    type: "tool_calls",
    calls: names.map((name, index) => ({ id: `${index}`, name, arguments: "{}" })),
  });
  const shown = (events: readonly ChatEvent[]) =>
    calls(play(events)).map(({ category, visibility }) => `${category} ${visibility}`);
  const executing: ChatEvent = { type: "tool_executing", id: "0", name: "f" };
  const result: ChatEvent = { type: "tool_result", id: "0", name: "f", result: { success: true, result: 1 } };

  it("is what its tool's name says where no event does", () => {
    expect(shown([bare("search_web", "read_url", "get_current_time", "calculate", "f", "toString")])).toEqual([
      "search primary",
      "other secondary",
      "utility hidden",
      "utility hidden",
      "other secondary",
      "other secondary",
    ]);
  });

  it.each([
    ["the first event", [{ type: "tool_calls", calls: [{ id: "0", name: "f", arguments: "{}", ...meta }] }, executing]],
    ["tool_executing", [bare("f"), { ...executing, ...meta }, result]],
    ["tool_result", [bare("f"), executing, { ...result, ...meta }]],
    ["tool_executing, when nothing announced it", [{ ...executing, ...meta }, result]],
  ] as [string, ChatEvent[]][])("is what %s says, and nothing said later takes it back", (_, events) => {
    expect(shown(events)).toEqual(["search primary"]);
  });

  it("is hidden from its first event on where that says so, so that nothing flashes", () => {
    const hidden = { category: "utility", visibility: "hidden" } as const;
    const events: ChatEvent[] = [
      { type: "tool_calls", calls: [{ id: "0", name: "f", arguments: "{}", ...hidden }] },
      executing,
      result,
      done,
    ];
    for (let seen = 1; seen <= events.length; seen++) expect(shown(events.slice(0, seen))).toEqual(["utility hidden"]);
  });
});

describe("an id that was not announced", () => {
  const statusOf = (events: readonly ChatEvent[]) => calls(play(events)).map(({ id, status }) => `${id} ${status}`);

  it("belongs to the oldest open call of that name", () => {
    expect(statusOf([announce("a", "b"), answer("x")])).toEqual(["a done", "b waiting"]);
    expect(statusOf([announce("a", "b"), answer("x"), answer("y")])).toEqual(["a done", "b done"]);
    expect(statusOf([announce("a", "b"), answer("a"), answer("x")])).toEqual(["a done", "b done"]);
  });

  it("stays with the call that it came for first", () => {
    const events = [announce("a", "b"), execute("x"), execute("y"), answer("y", 2), answer("x", 1)];
    expect(statusOf(events)).toEqual(["a done", "b done"]);
    expect(calls(play(events)).map((call) => call.result)).toEqual([1, 2]);
    expect(statusOf([announce("a", "b"), answer("x", 1), answer("x", 2)])).toEqual(["a done", "b waiting"]);
  });

  it("is a call where none of that name is open", () => {
    expect(statusOf([announce("a"), answer("a"), answer("x")])).toEqual(["a done", "x done"]);
    expect(statusOf([answer("x")])).toEqual(["x done"]);
  });
});

describe.each(fixtures)("%s", (_, bytes) => {
  const events = eventsOf(bytes);
  const trace = play(events);

  it("loses no text and ends every call", () => {
    expect(trace.items.map((item) => (item.kind === "content" ? item.text : "")).join("")).toBe(
      said(events, "content"),
    );
    expect(reasoningOf(trace).join("")).toBe(said(events, "reasoning"));
    expect(calls(trace).filter(isOpen)).toEqual([]);
    expect(trace.end?.status).toBe(events.findLast((event) => event.type === "done")?.status);
  });

  it("keeps everything at whatever event the connection is lost", () => {
    for (let length = 0; length < events.length; length++) {
      const part = events.slice(0, length);
      if (part.some((event) => event.type === "done")) continue;
      const lost = connectionLost(play(part));
      expect(lost.items.map((item) => (item.kind === "content" ? item.text : "")).join("")).toBe(said(part, "content"));
      expect(reasoningOf(lost).join("")).toBe(said(part, "reasoning"));
      expect(calls(lost).filter(isOpen)).toEqual([]);
      expect(lost.items.some((item) => item.kind === "reasoning" && item.running)).toBe(false);
      expect(lost.end?.status).toBe("interrupted");
    }
  });

  it("gives every item an id of its own", () => {
    const ids = trace.items.map((item) => `${item.kind} ${item.id}`);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("the order", () => {
  it("is the order of the stream, with a new block of reasoning after each round of tools", () => {
    const trace = play(fixture("tools"));
    expect(trace.items.map((item) => (item.kind === "call" ? item.id : item.kind))).toEqual([
      "reasoning",
      "c1",
      "c2",
      "t1",
      "reasoning",
      "content",
      "r1",
      "reasoning",
      "content",
    ]);
    expect(trace).toMatchObject({ runId: expect.stringMatching(/^f00d/), contract: "1.1", loop: "v2" });
    expect(trace.end).toMatchObject({ status: "complete", provider: "Simulator", usage: { input: 900, output: 120 } });
  });

  it("makes N+1 blocks of N rounds also where no step is told", () => {
    const round = (n: number) => [think(`${n}`), announce(`c${n}`), execute(`c${n}`), answer(`c${n}`)];
    const trace = play([...round(1), ...round(2), ...round(3), think("4"), say("x"), done]);
    expect(reasoningOf(trace)).toEqual(["1", "2", "3", "4"]);
  });

  it("does not break a sentence that an early result interrupts in the same step", () => {
    const trace = play([think("in the mid", 1), announce("a"), execute("a"), answer("a"), think("dle", 1)]);
    expect(reasoningOf(trace)).toEqual(["in the middle"]);
    const text = play([say("in the mid"), announce("a"), execute("a"), answer("a"), say("dle")]);
    expect(text.items.map((item) => item.kind)).toEqual(["content", "call"]);
    expect(answerText(text)).toBe("in the middle");
  });

  it("starts the text of a later step anew, after the blank line", () => {
    const trace = play([say("Looking."), announce("a"), answer("a"), say("\n\n"), say("Found.")]);
    expect(trace.items.map((item) => item.kind)).toEqual(["content", "call", "content"]);
    expect(answerText(trace)).toBe("Looking.\n\nFound.");
  });

  it("closes the block in use at the first content, and removes an empty one at the end", () => {
    const running = play([think("a", 1), say("b")]);
    expect(running.items[0]).toMatchObject({ kind: "reasoning", running: false });
    expect(play([think("", 1), say("b"), done]).items.map((item) => item.kind)).toEqual(["content"]);
  });
});

describe("calls", () => {
  it("find their results by id, whatever their names", () => {
    const trace = play([announce("a", "b"), execute("b"), execute("a"), answer("b", { results: [] }), answer("a", 1)]);
    expect(calls(trace).map(({ id, result }) => [id, result])).toEqual([
      ["a", 1],
      ["b", { results: [] }],
    ]);
  });

  it("tell how they went: cached, clamped, cut, failed", () => {
    expect(calls(play(fixture("clamped"))).map(({ id, status, cached, code }) => [id, status, cached, code])).toEqual([
      ["a", "done", false, undefined],
      ["b", "done", true, undefined],
      ["c", "failed", false, "ARGUMENTS_CUT"],
      ["d", "failed", false, "TOOL_CLAMP"],
    ]);
  });

  it("carry their links with the server's numbers and their times", () => {
    const [first] = calls(play(fixture("tools")));
    expect(first?.links.map(({ n, url }) => [n, url])).toEqual([
      [2, "https://example.org/a?id=1"],
      [3, "https://example.org/a?id=2"],
    ]);
    expect((first?.endedAt ?? 0) - (first?.startedAt ?? 0)).toBe(507);
  });

  it("that nobody announced are shown all the same, and a second result changes nothing", () => {
    const trace = play([execute("a"), answer("a", 1), answer("a", 2), execute("a"), announce("a")]);
    expect(calls(trace)).toMatchObject([{ id: "a", status: "done", result: 1 }]);
  });

  it("that come twice in one announcement are one", () => {
    expect(calls(play([announce("a", "a"), announce("a")])).map(({ id }) => id)).toEqual(["a"]);
  });

  it("that the end cuts short have its time", () => {
    const started: ChatEvent = { ...execute("a"), ts: 5 } as ChatEvent;
    const trace = play([announce("a"), started, { type: "done", done: true, status: "cancelled", ts: 9 }]);
    expect(calls(trace)[0]).toMatchObject({ status: "cancelled", startedAt: 5, endedAt: 9 });
  });

  it("that are open when the run is cancelled are cancelled, at any other end failed", () => {
    const events = [announce("a"), execute("a")];
    const cancelled: ChatEvent = { type: "done", done: true, status: "cancelled" };
    expect(calls(play([...events, cancelled]))[0]?.status).toBe("cancelled");
    expect(calls(play([...events, done]))[0]?.status).toBe("failed");
    expect(calls(stoppedLocally(play(events)))[0]?.status).toBe("cancelled");
    expect(calls(connectionLost(play(events)))[0]?.status).toBe("failed");
  });
});

describe("warnings and endings", () => {
  it("lists a warning once, by its code or else its words", () => {
    const warn = (message: string, code?: string): ChatEvent => ({ type: "warning", message, ...(code && { code }) });
    const trace = play([warn("a", "X"), warn("b", "X"), warn("a", "Y"), warn("c"), warn("c"), warn("d")]);
    expect(trace.items.flatMap((item) => (item.kind === "warning" ? [item.message] : []))).toEqual([
      "a",
      "a",
      "c",
      "d",
    ]);
  });

  it("hears nothing after the end", () => {
    const trace = play([say("a"), done]);
    expect(play([say("b"), think("c"), announce("d")], trace)).toBe(trace);
    expect(connectionLost(trace)).toBe(trace);
    expect(stoppedLocally(trace)).toBe(trace);
  });

  it("tells a refusal of the API as an end of its own", () => {
    const reason = { code: "TOO_MANY_RUNS", message: "Too many.", retryAfter: 2 };
    expect(refused(emptyTrace("m"), reason).end).toEqual({
      status: "error",
      code: "TOO_MANY_RUNS",
      error: "Too many.",
      local: true,
      retry_after: 2,
    });
  });

  it("tells a model that declines from a filter that withholds", () => {
    const filtered: ChatEvent = { type: "done", done: true, status: "content_filter", code: "CONTENT_FILTER" };
    expect(play([say("half"), filtered]).end).not.toHaveProperty("declined");
    expect(play([{ type: "content", content: "No.", refusal: true }, filtered]).end).toMatchObject({ declined: true });
    expect(play([{ type: "content", content: "No.", refusal: true }, done]).end).not.toHaveProperty("declined");
  });

  it("ignores a type that is new", () => {
    const trace = play([say("a")]);
    expect(runReducer(trace, { type: "hologram" } as unknown as ChatEvent).items).toEqual(trace.items);
  });

  it("keeps sentences of Signalbox apart from the model's words", () => {
    const trace = play([say("The model. "), { type: "content", content: "Ours.", synthetic: true }]);
    expect(trace.items).toMatchObject([
      { text: "The model. ", synthetic: false },
      { text: "Ours.", synthetic: true },
    ]);
  });
});

describe("a token", () => {
  const before = play(fixture("tools").slice(0, -4));

  it("of the answer leaves every other item as it was", () => {
    const after = runReducer(before, say("more"));
    expect(after.items.filter((item, index) => item !== before.items[index]).map(({ id }) => id)).toEqual([
      "content-2",
    ]);
  });

  it("of reasoning leaves every other item as it was", () => {
    const thought = play([think("a", 9)], before);
    const after = runReducer(thought, think("b", 9));
    expect(after.items.filter((item, index) => item !== thought.items[index])).toMatchObject([{ text: "ab", step: 9 }]);
  });
});

describe("what the events tell", () => {
  it("times no reasoning by the text before it, which carries no time", () => {
    const at = (content: string, ts: number): ChatEvent => ({ type: "reasoning", content, step: 1, ts });
    const trace = play([
      at("a", 1000),
      at("b", 2000),
      { type: "content", content: "long" },
      at("c", 9000),
      at("d", 9400),
    ]);
    const blocks = trace.items.filter((item) => item.kind === "reasoning");
    expect(blocks.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual([
      [1000, 2000],
      [9000, 9400],
    ]);
  });

  it("fills every field of the trace", () => {
    const trace = play(fixture("tools"));
    expect(trace).toMatchObject({ firstAt: 1760000000100, lastAt: 1760000003224 });
    expect(trace.end).toMatchObject({
      status: "complete",
      usage: { input: 900, output: 120, reasoning: 40 },
      cost: 0.0012,
      requested_model: "openai/sim",
      model: "openai/sim",
      provider: "Simulator",
      flag: { variant: "v2", reason: "STATIC" },
      steps: 3,
      simulated: true,
    });
    for (const item of trace.items) {
      if (item.kind !== "reasoning" && item.kind !== "call") continue;
      expect(item).toMatchObject({ step: expect.any(Number), endedAt: expect.any(Number) });
      expect(item.startedAt).toBeLessThanOrEqual(item.endedAt ?? 0);
    }
  });
});

describe("any stream", () => {
  const id = fc.constantFrom("a", "b", "c");
  const words = fc.constantFrom("x", "\n\n", "y ", "");
  const step = fc.constantFrom(undefined, 1, 2);
  const event: fc.Arbitrary<ChatEvent> = fc.oneof(
    words.map(say),
    fc.tuple(words, step).map(([content, n]) => think(content, n)),
    id.map((one) => announce(one)),
    id.map(execute),
    id.map((one) => answer(one)),
  );

  it("loses no text, repeats no call and leaves none open", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const trace = play([...events, done]);
        const ids = calls(trace).map((call) => call.id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(calls(trace).filter(isOpen)).toEqual([]);
        const text = trace.items.map((item) => (item.kind === "content" ? item.text : "")).join("");
        expect(text).toBe(said(events, "content"));
        expect(reasoningOf(trace).join("").length).toBe(said(events, "reasoning").length);
      }),
    );
  });

  it("gives the same trace again, and does not touch the one before", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (events) => {
        const freeze = (trace: RunTrace): RunTrace => {
          for (const item of trace.items) Object.freeze(item);
          Object.freeze(trace.items);
          return Object.freeze(trace);
        };
        const frozen = events.reduce((trace, next) => freeze(runReducer(trace, next)), freeze(emptyTrace("m")));
        expect(frozen).toEqual(play(events));
      }),
    );
  });
});
