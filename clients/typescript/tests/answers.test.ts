import { describe, expect, it } from "vitest";
import { answerOf, type RunEvent } from "../src/answers.ts";
import { RunFailed } from "../src/index.ts";
import type { Done } from "../src/types/events.ts";

const IDS = { runId: "r", conversationId: undefined, messageId: undefined };
const ended = (more: Partial<Done> = {}): Done => ({ type: "done", done: true, status: "complete", ...more });

function answer(events: readonly object[], done = ended()) {
  const numbered = [...events, done].map((event, at) => ({ ...event, seq: at + 1 }) as RunEvent);
  return answerOf(numbered, done, IDS);
}

describe("an answer", () => {
  it("has offsets of sources in its whole text, although the server's count in the text of a step", () => {
    const { text, sources, calls } = answer([
      { type: "content", content: "One." },
      { type: "tool_calls", calls: [{ id: "a", name: "b", arguments: "{}" }], step: 1 },
      { type: "content", content: "\n\n" },
      { type: "content", content: "Two." },
      { type: "content", content: "", sources: [{ n: 1, url: "u", title: "t", start_index: 0, end_index: 4 }] },
    ]);
    expect(text.slice(sources[0]?.start_index, sources[0]?.end_index)).toBe("Two.");
    expect(calls).toMatchObject([{ id: "a", step: 1, result: undefined }]);
  });

  it("has no event that a crash lost", () => {
    const lost = ended({ status: "interrupted", unsaved: { after: 1, before: 3 } });
    const contents = ["Saved.", "Lost."].map((content) => ({ type: "content", content }));
    expect(answer(contents, lost).text).toBe("Saved.");
  });

  it("separates the reasoning of steps", () => {
    const reasoning = [1, 1, 2].map((step) => ({ type: "reasoning", content: `${step}`, step }));
    expect(answer(reasoning).reasoning).toBe("11\n\n2");
  });

  it("that is not complete has the sentence of its warning, which says what to do", () => {
    const done = ended({ status: "error", code: "STREAM_CUT", error: "The stream was cut." });
    const warnings = [
      { type: "warning", code: "STREAM_CUT", message: "The stream was cut. Try again." },
      { type: "warning", code: "TOOL_CLAMP", message: "The search limit was reached." },
    ];
    expect(new RunFailed(answer(warnings, done))).toMatchObject({
      code: "STREAM_CUT",
      message: "The stream was cut. Try again.",
    });
    expect(new RunFailed(answer([], done)).message).toBe("The stream was cut.");
    expect(new RunFailed(answer([], ended({ status: "postponed" as "error" }))).message).toContain("postponed");
  });
});
