import { describe, expect, it } from "vitest";
import { fixture } from "../../fixtures/read.ts";
import type { ChatEvent } from "../../types/models.ts";
import { connectionLost, emptyTrace, runReducer } from "../trace/reducer.ts";
import { firstNotices, passagesOf, stepsLamp, summaryOf } from "./stepSummary.ts";
import { type Stop, stopsOf } from "./stops.ts";

const search = { category: "search", visibility: "primary" } as const;
const other = { category: "other", visibility: "secondary" } as const;
const think = (step: number, ts: number): ChatEvent => ({ type: "reasoning", content: "hm", step, ts });
const say: ChatEvent = { type: "content", content: "So." };
const done: ChatEvent = { type: "done", done: true, status: "complete" };

interface Called {
  meta?: typeof search | typeof other;
  name?: string;
  from?: number;
  to?: number;
  result?: unknown;
  artifact?: unknown;
  code?: string;
}

const call = (
  id: string,
  { meta = search, name = "search_web", from, to, result = {}, artifact, code }: Called = {},
) => {
  const named = { id, name, ...meta };
  const outcome = code ? { success: false as const, error: "No.", code } : { success: true as const, result };
  return [
    { type: "tool_calls", calls: [{ ...named, arguments: "{}" }] },
    { type: "tool_executing", ...named, ...(from !== undefined && { ts: from }) },
    {
      type: "tool_result",
      ...named,
      result: outcome,
      ...(artifact ? { artifact } : {}),
      ...(to !== undefined && { ts: to }),
    },
  ] satisfies ChatEvent[];
};
const pages = (...ns: number[]) => ({
  results: ns.map((n) => ({ n, title: `Page ${n}`, url: `https://e.example/${n}` })),
});

const passages = (events: readonly ChatEvent[]) => {
  const trace = events.reduce(runReducer, emptyTrace("m"));
  return passagesOf(stopsOf(trace), trace.end !== undefined);
};
const stepsIn = (events: readonly ChatEvent[]) => {
  const [first] = passages(events);
  if (first?.kind !== "steps") throw new Error("no steps");
  return first;
};
const RESEARCH = [think(1, 1_000), ...call("a"), think(2, 3_000), ...call("b", { from: 3_000, to: 5_000 })];
const summary = (events: readonly ChatEvent[]) => summaryOf(stepsIn(events).steps, (name) => name.toUpperCase());

describe("the steps of a run", () => {
  it("fold into one row once text follows more than three of them", () => {
    expect(stepsIn(RESEARCH).isLong).toBe(false);
    expect(stepsIn([...RESEARCH, say]).isLong).toBe(true);
    expect(stepsIn([think(1, 1), ...call("a"), think(2, 3), say, done]).isLong).toBe(false);
  });

  it("fold into one row when the run ends without text, and not before", () => {
    expect(stepsIn([...RESEARCH, done]).isLong).toBe(true);
    const trace = RESEARCH.reduce(runReducer, emptyTrace("m"));
    const [lost] = passagesOf(stopsOf(connectionLost(trace)), true);
    expect(lost).toMatchObject({ kind: "steps", isLong: true });
  });

  it("do not fold while one is running", () => {
    const [announced, executing] = call("c", { meta: other, name: "read_url" });
    const open = [...RESEARCH, announced, executing, say] as ChatEvent[];
    expect(stepsIn(open).isLong).toBe(false);
  });

  it("keep their place between texts, and their ids while they grow", () => {
    const events = fixture("tools");
    const kinds = (length: number) => passages(events.slice(0, length)).map(({ kind, id }) => [kind, id]);
    const whole = kinds(events.length);
    expect(whole.map(([kind]) => kind)).toEqual(["steps", "answer", "steps", "answer"]);
    for (let length = 0; length < events.length; length++) {
      const sofar = kinds(length);
      expect(sofar).toEqual(whole.slice(0, sofar.length));
    }
  });
});

describe("the text of a row", () => {
  it("counts steps by kind, and each source once", () => {
    const events = [
      ...call("a", { result: pages(1, 2) }),
      ...call("b", { result: pages(2, 3) }),
      ...call("c", { meta: other, name: "read_url", result: { url: "https://e.example/3", title: "Page 3" } }),
      ...call("d", { meta: other, name: "calculate" }),
      ...call("e", { meta: other, name: "calculate" }),
      ...call("f", { meta: other, name: "roll_dice" }),
      done,
    ];
    expect(summary(events).done).toEqual(["2 searches", "1 page read", "2 calculations", "ROLL_DICE", "3 sources"]);
  });

  it("names three other tools and counts the rest", () => {
    const events = ["a", "b", "c", "d", "e"].flatMap((name) => call(name, { meta: other, name }));
    expect(summary([...events, ...call("a2", { meta: other, name: "a" }), done]).done).toEqual([
      "A 2×",
      "B",
      "C",
      "2 other tools",
    ]);
  });

  it("measures the time from the first start to the last end, whatever ran in parallel", () => {
    const events = [
      think(1, 1_000),
      ...call("a", { from: 2_000, to: 8_000 }),
      ...call("b", { from: 2_000, to: 10_000 }),
      done,
    ];
    expect(summary(events).took).toBe("9.0 s");
    expect(summary([...call("a"), done]).took).toBe("");
  });

  it("distinguishes failures from stopped and skipped calls", () => {
    const events = [
      ...call("a", { code: "TIMEOUT" }),
      ...call("b", { code: "CANCELLED" }),
      ...call("c", { code: "TOOL_CLAMP" }),
      ...call("d"),
      done,
    ];
    expect(summary(events)).toMatchObject({ done: ["3 searches"], failed: 1, others: ["1 stopped", "1 skipped"] });
  });

  it("counts handed calls apart", () => {
    const [called] = call("b", { meta: other, name: "get_weather" });
    const events = [...call("a"), called as ChatEvent, { ...done, handed: ["b"] } as ChatEvent];
    expect(summary(events)).toMatchObject({ done: ["1 search"], failed: 0, others: ["1 handed to the client"] });
  });
});

describe("the lamp of a row", () => {
  it("shows a failure until the row is opened", () => {
    const { steps } = stepsIn([...RESEARCH, ...call("c", { code: "TIMEOUT" }), say]);
    expect([stepsLamp(steps, false), stepsLamp(steps, true)]).toEqual(["failed", "done"]);
    expect(stepsLamp(stepsIn([...RESEARCH, say]).steps, false)).toBe("done");
  });
});

it("has a notice of the searches only at the first step", () => {
  const result = { ...pages(1), notice: "No web search." };
  const other = { ...pages(1), notice: "The search is slow." };
  const events = [
    ...call("a", { result }),
    think(2, 1),
    ...call("b", { result }),
    say,
    ...call("c", { result: other }),
  ];
  const stops = passages([...events, done]).flatMap((part): readonly Stop[] =>
    part.kind === "steps" ? part.steps : [part.stop],
  );
  const notices = firstNotices(stops);
  expect([...notices.values()]).toEqual([["No web search."], [], [], ["The search is slow."]]);
});

it("has no notice of a search with a table, whose caption contains it", () => {
  const result = { notice: "Invented.", products: [] };
  const artifact = { surfaceId: "t", caption: "Mugs. Invented.", columns: [{ key: "name", label: "Name" }], data: [] };
  const { steps } = stepsIn([...call("a", { result, artifact }), ...call("b", { result }), done]);
  expect([...firstNotices(steps).values()].flat()).toEqual(["Invented."]);
  const alone = stepsIn([...call("a", { result, artifact }), done]);
  expect([...firstNotices(alone.steps).values()].flat()).toEqual([]);
});
