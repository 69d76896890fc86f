import type { ChatEvent } from "@signalbox/client";
import { describe, expect, it } from "vitest";
import { fixture, fixtures, eventsOf as readEvents } from "../../fixtures/read.ts";
import { captured, capturedRecord } from "../../fixtures/record.ts";
import type { RawEvent } from "../../types/api.ts";
import { connectionLost, emptyTrace, runReducer } from "../trace/reducer.ts";
import { eventsOf, textPhases } from "./textPhases.ts";
import { hasEnded, type Row, ticksOf, waterfall } from "./waterfall.ts";

const raw = (events: readonly ChatEvent[]): RawEvent[] =>
  events.map((event, index) => ({ seq: index + 1, event: event as unknown as RawEvent["event"] }));
const traceOf = (events: readonly RawEvent[]) =>
  events.reduce((trace, { event }) => runReducer(trace, event as unknown as ChatEvent), emptyTrace("m"));

const record = capturedRecord;
const { events } = captured;
const whole = { trace: traceOf(events), record, events, now: 0 };

const golden = (name: string) => {
  const numbered = raw(fixture(name));
  return waterfall({ trace: traceOf(numbered), record: undefined, events: numbered, now: 0 });
};
const named = (rows: readonly Row[]) => rows.map(({ label, marks }) => [label, ...marks].join(" "));

describe("a captured run", () => {
  const { rows, from, totalMs } = waterfall(whole);

  it("has a row for each attempt, including retries and hidden tools, in order", () => {
    expect(named(rows)).toEqual([
      "Step 1 RATE_LIMIT",
      "Step 1 retry 1",
      "Reasoning",
      "search_web",
      "calculate hidden",
      "Step 2",
      "Reasoning",
      "Answer",
    ]);
    expect(rows.map(({ lamp }) => lamp)).toEqual(["failed", ...Array(7).fill("done")]);
  });

  it("is positioned by the server's times", () => {
    expect(from).toBe(record.startedAt);
    expect(totalMs).toBe((record.endedAt ?? 0) - record.startedAt);
    const [, retry, , , , second, reasoningAt] = rows;
    const attempt = record.attempts[1];
    expect(retry?.ms).toBe((attempt?.endedAt ?? 0) - (attempt?.startedAt ?? 0));
    expect(retry?.waitMs).toBe((attempt?.firstPartAt ?? 0) - (attempt?.startedAt ?? 0));
    expect(retry?.bar?.wait).toBeCloseTo(((retry?.waitMs ?? 0) / totalMs) * 100);
    // Reasoning starts with the first part, not with the request.
    expect(reasoningAt?.bar?.x).toBeCloseTo((second?.bar?.x ?? 0) + (second?.bar?.wait ?? 0));
  });

  it("stays inside its width", () => {
    for (const { bar } of rows) {
      expect(bar?.x).toBeGreaterThanOrEqual(0);
      expect((bar?.x ?? 0) + (bar?.width ?? 0)).toBeLessThanOrEqual(100.001);
    }
  });

  it("has its answer between the last reasoning and the end of its attempt", () => {
    const answer = rows.at(-1);
    if (answer?.subject.kind !== "text") throw new Error("no text");
    expect(answer.subject.phase).toMatchObject({ step: 2, endedAt: record.attempts[2]?.endedAt });
    expect(answer.subject.phase.text).toContain("391");
  });

  it("assigns each event to its rows", () => {
    const seqs = (index: number) =>
      eventsOf((rows[index] as Row).subject, events, record.attempts).map(({ event }) => event.type);
    expect(seqs(0)).toEqual([]);
    expect(seqs(3)).toEqual(["tool_calls", "tool_executing", "tool_result"]);
    expect(new Set(seqs(2))).toEqual(new Set(["reasoning"]));
    expect(seqs(7).length).toBe(events.filter(({ event }) => event.type === "content").length);
    // Every event except `done` belongs to exactly one attempt.
    const all = [1, 5].flatMap((index) => eventsOf((rows[index] as Row).subject, events, record.attempts));
    expect(all.map(({ seq }) => seq)).toEqual(events.slice(0, -1).map(({ seq }) => seq));
  });
});

describe("a run without its record", () => {
  it("shows calls that never ran without a duration", () => {
    const { rows } = golden("clamped");
    expect(named(rows)).toEqual([
      "Reasoning not shown by the provider",
      "search_web",
      "search_web ARGUMENTS_CUT",
      "search_web cached",
      "search_web over limit",
      "Answer written by Signalbox",
    ]);
    expect(rows.slice(2, 5).map(({ ms, lamp }) => [ms, lamp])).toEqual([
      [0, "failed"],
      [0, "blue"],
      [0, "waiting"],
    ]);
  });

  it("shows handed calls at the end of the run", () => {
    const called = {
      id: "a",
      name: "get_weather",
      category: "other",
      visibility: "secondary",
      arguments: "{}",
    } as const;
    const events = raw([
      { type: "content", content: "Let me look." },
      { type: "tool_calls", calls: [called], step: 1, ts: 1_000 },
      { type: "done", done: true, status: "complete", handed: ["a"], ts: 1_100 },
    ]);
    const { rows } = waterfall({ trace: traceOf(events), record: undefined, events, now: 0 });
    expect(named(rows)).toEqual(["Answer", "get_weather handed to the client"]);
    expect(rows[1]).toMatchObject({ ms: 0, lamp: "waiting", running: false });
  });

  it("keeps text between steps in place", () => {
    expect(named(golden("tools").rows)).toEqual([
      "Reasoning",
      "search_web",
      "search_web",
      "get_current_time hidden",
      "Reasoning",
      "Answer",
      "read_url TOOL_FAILED",
      "Reasoning",
      "Answer",
    ]);
  });

  it.each(fixtures)("%s has every call and every time in it", (_, bytes) => {
    const numbered = raw(readEvents(bytes));
    const trace = traceOf(numbered);
    const { rows } = waterfall({ trace, record: undefined, events: numbered, now: 0 });
    const count = (kind: string) => rows.filter(({ subject }) => subject.kind === kind).length;
    expect(count("call")).toBe(trace.items.filter(({ kind }) => kind === "call").length);
    expect(count("reasoning")).toBe(trace.items.filter(({ kind }) => kind === "reasoning").length);
    expect(rows.map(({ running }) => running)).not.toContain(true);
    for (const { bar } of rows.filter((row) => row.bar))
      expect((bar?.x ?? 0) + (bar?.width ?? 0)).toBeLessThan(100.001);
    const text = rows.map(({ subject }) => (subject.kind === "text" ? subject.phase.text.trim() : "")).join("");
    const contentOf = trace.items.map((item) => (item.kind === "content" ? item.text.trim() : "")).join("");
    expect(text.replaceAll(/\s/g, "")).toBe(contentOf.replaceAll(/\s/g, ""));
  });
});

describe("one step", () => {
  const numbered = (list: readonly RawEvent["event"][]): RawEvent[] =>
    list.map((event, index) => ({ seq: index + 1, event }));
  const reasoningAt = (ts: number) => ({ type: "reasoning", content: "Hm.", step: 1, ts });
  const contentOf = (content: string) => ({ type: "content", content });
  const early = { id: "a", name: "read_url", category: "other", visibility: "primary", step: 1 };

  it("has a row per text with reasoning in between, and one for a text that an early result interrupts", () => {
    const between = numbered([reasoningAt(1), contentOf("A"), reasoningAt(5), contentOf("B")]);
    const texts = (list: RawEvent[]) =>
      textPhases(list, [], true).map(({ text, startedAt, endedAt, step }) => [text, startedAt, endedAt, step]);
    expect(texts(between)).toEqual([
      ["A", 1, 5, 1],
      ["B", 5, undefined, 1],
    ]);
    const interrupted = numbered([
      reasoningAt(1),
      contentOf("A"),
      { ...early, type: "tool_executing", ts: 3 },
      contentOf("B"),
      { ...early, type: "tool_calls", calls: [], ts: 7 },
    ]);
    expect(texts(interrupted)).toEqual([["AB", 1, 7, 1]]);
  });

  it("assigns events before a retry to the failed attempt", () => {
    const [, attempt] = record.attempts;
    if (!attempt) throw new Error("no attempt");
    const first = { ...attempt, number: 1, startedAt: 0, firstPartAt: 1, endedAt: 10 };
    const second = { ...attempt, number: 2, startedAt: 20, firstPartAt: 25, endedAt: 40 };
    const all = numbered([reasoningAt(2), reasoningAt(26), { type: "tool_calls", calls: [], step: 1, ts: 30 }]);
    const seqs = (of: typeof first) =>
      eventsOf({ kind: "attempt", attempt: of }, all, [first, second]).map(({ seq }) => seq);
    expect([seqs(first), seqs(second)]).toEqual([[1], [2, 3]]);
  });
});

describe("a run under way", () => {
  const part = events.slice(0, 10);
  const running = {
    ...record,
    status: "running" as const,
    endedAt: undefined,
    attempts: record.attempts.slice(0, 2).map((attempt, i) => (i === 1 ? { ...attempt, endedAt: undefined } : attempt)),
  };
  const at = (now: number) => waterfall({ trace: traceOf(part), record: running, events: part, now });

  it("grows with the current time", () => {
    const open = (now: number) => at(now).rows.filter((row) => row.running);
    expect(named(open(record.startedAt + 1000))).toEqual(["Step 1 retry 1", "Reasoning"]);
    const [early, late] = [open(record.startedAt + 1000)[0], open(record.startedAt + 5000)[0]];
    expect((late?.ms ?? 0) - (early?.ms ?? 0)).toBe(4000);
    expect((late?.bar?.x ?? 0) + (late?.bar?.width ?? 0)).toBeCloseTo(100);
    expect(at(record.startedAt + 5000).totalMs).toBe(5000);
  });

  it("never runs backwards if the clocks differ", () => {
    for (const { ms } of at(0).rows) expect(ms).toBeGreaterThanOrEqual(0);
  });

  it("is over when the server says so, even if the page lost the connection", () => {
    const lost = connectionLost(traceOf(part));
    expect(hasEnded(lost, running)).toBe(false);
    expect(hasEnded(lost, record)).toBe(true);
    expect(hasEnded(lost, undefined)).toBe(true);
    expect(hasEnded(whole.trace, running)).toBe(true);
  });
});

describe("ticks", () => {
  it.each([
    [0.5, [0]],
    [4, [0, 1, 2, 3, 4]],
    [950, [0, 500]],
    [2064, [0, 1000, 2000]],
    [61_000, [0, 20_000, 40_000, 60_000]],
  ])("of %s ms are round", (ms, expected) => {
    expect(ticksOf(ms).map((tick) => tick.ms)).toEqual(expected);
  });
});

it("is empty without data", () => {
  expect(waterfall({ trace: undefined, record: undefined, events: [], now: 5 }).rows).toEqual([]);
});
