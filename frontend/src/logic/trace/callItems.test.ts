import { describe, expect, it } from "vitest";
import { announce, answer, calls, done, execute, meta, play } from "../../fixtures/events.ts";
import { fixture } from "../../fixtures/read.ts";
import type { ChatEvent } from "../../types/models.ts";
import { connectionLost, stoppedLocally } from "./reducer.ts";

describe("a call's arguments", () => {
  const calledWith = (text: string) => {
    const [call] = calls(play([{ type: "tool_calls", calls: [{ id: "a", name: "f", arguments: text, ...meta }] }]));
    return [call?.arguments, call?.argumentsRaw];
  };

  it("are the parsed object", () => {
    expect(calledWith('{"query":"foo","__proto__":1}')).toEqual([
      JSON.parse('{"query":"foo","__proto__":1}'),
      undefined,
    ]);
    expect(calledWith("")).toEqual([{}, undefined]);
  });

  it.each(['{"que', "[1]", '"text"', "null", "5"])("stay the text %s if it is not an object", (text) => {
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

  it("depends on the tool's name if no event has it", () => {
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

  it("is hidden from its first event if that says so, so that nothing flashes", () => {
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

  it("stays with its first call", () => {
    const events = [announce("a", "b"), execute("x"), execute("y"), answer("y", 2), answer("x", 1)];
    expect(statusOf(events)).toEqual(["a done", "b done"]);
    expect(calls(play(events)).map((call) => call.result)).toEqual([1, 2]);
    expect(statusOf([announce("a", "b"), answer("x", 1), answer("x", 2)])).toEqual(["a done", "b waiting"]);
  });

  it("adds a call if none of that name is open", () => {
    expect(statusOf([announce("a"), answer("a"), answer("x")])).toEqual(["a done", "x done"]);
    expect(statusOf([answer("x")])).toEqual(["x done"]);
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

  it("have their outcome: cached, clamped, cut, failed", () => {
    expect(calls(play(fixture("clamped"))).map(({ id, status, cached, code }) => [id, status, cached, code])).toEqual([
      ["a", "done", false, undefined],
      ["b", "done", true, undefined],
      ["c", "failed", false, "ARGUMENTS_CUT"],
      ["d", "failed", false, "TOOL_CLAMP"],
    ]);
  });

  it("have their links with the server's numbers and their times", () => {
    const [first] = calls(play(fixture("tools")));
    expect(first?.links.map(({ n, url }) => [n, url])).toEqual([
      [2, "https://example.org/a?id=1"],
      [3, "https://example.org/a?id=2"],
    ]);
    expect((first?.endedAt ?? 0) - (first?.startedAt ?? 0)).toBe(507);
  });

  it("are shown even if not announced, and a second result changes nothing", () => {
    const trace = play([execute("a"), answer("a", 1), answer("a", 2), execute("a"), announce("a")]);
    expect(calls(trace)).toMatchObject([{ id: "a", status: "done", result: 1 }]);
  });

  it("that are announced twice in one event are one", () => {
    expect(calls(play([announce("a", "a"), announce("a")])).map(({ id }) => id)).toEqual(["a"]);
  });

  it("end at the time of the run's end if they are open", () => {
    const started: ChatEvent = { ...execute("a"), ts: 5 } as ChatEvent;
    const trace = play([announce("a"), started, { type: "done", done: true, status: "cancelled", ts: 9 }]);
    expect(calls(trace)[0]).toMatchObject({ status: "cancelled", startedAt: 5, endedAt: 9 });
  });

  it("that the run hands over have no error", () => {
    const [ours, theirs] = calls(
      play([announce("a", "b"), answer("a"), { ...done, handed: ["b"], ts: 9 } as ChatEvent]),
    );
    expect(ours).toMatchObject({ status: "done" });
    expect(theirs).toMatchObject({ status: "handed", endedAt: 9 });
    expect(theirs).not.toHaveProperty("error");
  });

  it("are cancelled if the run is cancelled, and fail at any other end", () => {
    const events = [announce("a"), execute("a")];
    const cancelled: ChatEvent = { type: "done", done: true, status: "cancelled" };
    expect(calls(play([...events, cancelled]))[0]?.status).toBe("cancelled");
    expect(calls(play([...events, done]))[0]?.status).toBe("failed");
    expect(calls(stoppedLocally(play(events)))[0]?.status).toBe("cancelled");
    expect(calls(connectionLost(play(events)))[0]?.status).toBe("failed");
  });
});
