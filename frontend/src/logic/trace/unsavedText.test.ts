import { describe, expect, it } from "vitest";
import type { RawEvent } from "../../types/api.ts";
import type { ChatEvent, RunTrace } from "../../types/models.ts";
import { answerText } from "../answer/stops.ts";
import { emptyTrace, runReducer } from "./reducer.ts";
import { withoutUnsaved } from "./unsavedText.ts";

const addText = (seq: number, content: string): RawEvent => ({ seq, event: { type: "content", content } });
const think = (seq: number, content: string): RawEvent => ({ seq, event: { type: "reasoning", content, ts: seq } });
const crash: RawEvent = { seq: 1001, event: { type: "warning", code: "SERVER_CRASH", message: "It stopped.", ts: 9 } };

const seen = (events: readonly RawEvent[]): RunTrace =>
  events.reduce((trace, { event }) => runReducer(trace, event as unknown as ChatEvent), emptyTrace("openai/sim"));

describe("the text lost in a crash", () => {
  it("is kept beside the saved answer", () => {
    const events = [think(1, "Hm."), addText(2, "One two"), addText(3, " three "), addText(4, "four"), crash];
    const trace = withoutUnsaved(seen(events), events, { after: 2, before: 1001 });
    expect(answerText(trace)).toBe("One two");
    expect(trace.unsaved).toEqual({ text: "three four", reasoning: "" });
    expect(trace.items.map(({ kind }) => kind)).toEqual(["reasoning", "content", "warning"]);
    expect(trace.model).toBe("openai/sim");
  });

  it("may be only reasoning, or everything", () => {
    const events = [think(1, "Hm. "), think(2, "So."), crash];
    const some = withoutUnsaved(seen(events), events, { after: 1, before: 1001 });
    expect(some.unsaved).toEqual({ text: "", reasoning: "So." });
    const all = withoutUnsaved(seen(events), events, { after: 0, before: 1001 });
    expect(all.items.map(({ kind }) => kind)).toEqual(["warning"]);
  });

  it("is empty if the page had shown only saved text", () => {
    const events = [addText(1, "One"), crash];
    const trace = seen(events);
    expect(withoutUnsaved(trace, events, { after: 1, before: 1001 })).toBe(trace);
  });
});
