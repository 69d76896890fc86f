import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addText,
  announce,
  answer,
  calls,
  done,
  execute,
  isOpen,
  play,
  reasoningOf,
  textOf,
  think,
} from "../../fixtures/events.ts";
import { eventsOf, fixture, fixtures } from "../../fixtures/read.ts";
import type { ChatEvent, RunTrace } from "../../types/models.ts";
import { answerText } from "../answer/stops.ts";
import { connectionLost, emptyTrace, refused, runReducer, stoppedLocally } from "./reducer.ts";

describe.each(fixtures)("%s", (_, bytes) => {
  const events = eventsOf(bytes);
  const trace = play(events);

  it("keeps all text and ends every call", () => {
    expect(trace.items.map((item) => (item.kind === "content" ? item.text : "")).join("")).toBe(
      textOf(events, "content"),
    );
    expect(reasoningOf(trace).join("")).toBe(textOf(events, "reasoning"));
    expect(calls(trace).filter(isOpen)).toEqual([]);
    expect(trace.end?.status).toBe(events.findLast((event) => event.type === "done")?.status);
  });

  it("keeps everything, at whatever event the connection is lost", () => {
    for (let length = 0; length < events.length; length++) {
      const part = events.slice(0, length);
      if (part.some((event) => event.type === "done")) continue;
      const lost = connectionLost(play(part));
      expect(lost.items.map((item) => (item.kind === "content" ? item.text : "")).join("")).toBe(
        textOf(part, "content"),
      );
      expect(reasoningOf(lost).join("")).toBe(textOf(part, "reasoning"));
      expect(calls(lost).filter(isOpen)).toEqual([]);
      expect(lost.items.some((item) => item.kind === "reasoning" && item.running)).toBe(false);
      expect(lost.end?.status).toBe("interrupted");
    }
  });

  it("gives every item a unique id", () => {
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

  it("makes N+1 blocks of N rounds, even without step numbers", () => {
    const round = (n: number) => [think(`${n}`), announce(`c${n}`), execute(`c${n}`), answer(`c${n}`)];
    const trace = play([...round(1), ...round(2), ...round(3), think("4"), addText("x"), done]);
    expect(reasoningOf(trace)).toEqual(["1", "2", "3", "4"]);
  });

  it("does not break a sentence that an early result interrupts in the same step", () => {
    const trace = play([think("in the mid", 1), announce("a"), execute("a"), answer("a"), think("dle", 1)]);
    expect(reasoningOf(trace)).toEqual(["in the middle"]);
    const text = play([addText("in the mid"), announce("a"), execute("a"), answer("a"), addText("dle")]);
    expect(text.items.map((item) => item.kind)).toEqual(["content", "call"]);
    expect(answerText(text)).toBe("in the middle");
  });

  it("starts the text of a later step anew, after the blank line", () => {
    const trace = play([addText("Looking."), announce("a"), answer("a"), addText("\n\n"), addText("Found.")]);
    expect(trace.items.map((item) => item.kind)).toEqual(["content", "call", "content"]);
    expect(answerText(trace)).toBe("Looking.\n\nFound.");
  });

  it("closes the open block at the first content, and removes an empty one at the end", () => {
    const running = play([think("a", 1), addText("b")]);
    expect(running.items[0]).toMatchObject({ kind: "reasoning", running: false });
    expect(play([think("", 1), addText("b"), done]).items.map((item) => item.kind)).toEqual(["content"]);
  });
});

describe("warnings and endings", () => {
  it("lists a warning once, by its code or else its message", () => {
    const warn = (message: string, code?: string): ChatEvent => ({ type: "warning", message, ...(code && { code }) });
    const trace = play([warn("a", "X"), warn("b", "X"), warn("a", "Y"), warn("c"), warn("c"), warn("d")]);
    expect(trace.items.flatMap((item) => (item.kind === "warning" ? [item.message] : []))).toEqual([
      "a",
      "a",
      "c",
      "d",
    ]);
  });

  it("ignores events after the end", () => {
    const trace = play([addText("a"), done]);
    expect(play([addText("b"), think("c"), announce("d")], trace)).toBe(trace);
    expect(connectionLost(trace)).toBe(trace);
    expect(stoppedLocally(trace)).toBe(trace);
  });

  it("turns an API error into an end", () => {
    const reason = { code: "TOO_MANY_RUNS", message: "Too many.", retryAfter: 2 };
    expect(refused(emptyTrace("m"), reason).end).toEqual({
      status: "error",
      code: "TOO_MANY_RUNS",
      error: "Too many.",
      local: true,
      retry_after: 2,
    });
  });

  it("distinguishes a declining model from a content filter", () => {
    const filtered: ChatEvent = { type: "done", done: true, status: "content_filter", code: "CONTENT_FILTER" };
    expect(play([addText("half"), filtered]).end).not.toHaveProperty("declined");
    expect(play([{ type: "content", content: "No.", refusal: true }, filtered]).end).toMatchObject({ declined: true });
    expect(play([{ type: "content", content: "No.", refusal: true }, done]).end).not.toHaveProperty("declined");
  });

  it("ignores an unknown event type", () => {
    const trace = play([addText("a")]);
    expect(runReducer(trace, { type: "hologram" } as unknown as ChatEvent).items).toEqual(trace.items);
  });

  it("keeps sentences by Signalbox separate from the model's text", () => {
    const trace = play([addText("The model. "), { type: "content", content: "Ours.", synthetic: true }]);
    expect(trace.items).toMatchObject([
      { text: "The model. ", synthetic: false },
      { text: "Ours.", synthetic: true },
    ]);
  });
});

describe("a token", () => {
  const before = play(fixture("tools").slice(0, -4));

  it("of the answer leaves every other item as it was", () => {
    const after = runReducer(before, addText("more"));
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

describe("facts from the events", () => {
  it("does not time reasoning by the text before it, which has no time", () => {
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
    words.map(addText),
    fc.tuple(words, step).map(([content, n]) => think(content, n)),
    id.map((one) => announce(one)),
    id.map(execute),
    id.map((one) => answer(one)),
  );

  it("keeps all text, repeats no call and leaves none open", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const trace = play([...events, done]);
        const ids = calls(trace).map((call) => call.id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(calls(trace).filter(isOpen)).toEqual([]);
        const text = trace.items.map((item) => (item.kind === "content" ? item.text : "")).join("");
        expect(text).toBe(textOf(events, "content"));
        expect(reasoningOf(trace).join("").length).toBe(textOf(events, "reasoning").length);
      }),
    );
  });

  it("is deterministic and does not mutate the previous trace", () => {
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
