import { describe, expect, it } from "vitest";
import type { ChatEvent } from "../../types/models.ts";
import { emptyTrace, runReducer } from "../trace/reducer.ts";
import { variantStatus } from "./variantStatus.ts";

const status = (...events: readonly ChatEvent[]) => variantStatus(events.reduce(runReducer, emptyTrace("m")));
const meta = { category: "other", visibility: "secondary" } as const;
const PREVIEW: readonly ChatEvent[] = [
  { type: "preview", id: "a", name: "create_file", key: "/path", text: "index.html" },
  { type: "preview", id: "a", key: "/content", text: "x".repeat(4096) },
];
const WRITTEN: readonly ChatEvent[] = [
  {
    type: "tool_calls",
    calls: [{ id: "a", name: "create_file", arguments: '{"path":"index.html","content":"x"}', ...meta }],
    step: 1,
  },
  {
    ...{ type: "tool_result", id: "a", name: "create_file", result: { success: true, result: {} }, ...meta },
    artifact: { type: "file", path: "index.html", version: 1, lines: 1 },
  },
];
const done = (end: object = {}) => ({ type: "done", done: true, status: "complete", ...end }) as unknown as ChatEvent;

describe("the status of a variant", () => {
  it("is what its run does", () => {
    expect(status()).toBe("Waiting for the model");
    expect(status({ type: "reasoning", content: "Hm.", step: 1 })).toBe("Thinking");
    expect(status(...PREVIEW)).toBe("Creating index.html · 4.1 kB");
    expect(status(...WRITTEN, { type: "content", content: "Done." })).toBe("Answering");
  });

  it("is the number of its files in the end, and why it ended early", () => {
    expect(status({ type: "content", content: "Done." }, done())).toBe("");
    expect(status(...WRITTEN, done())).toBe("1 file");
    expect(status(...WRITTEN, done({ status: "cancelled" }))).toBe("Stopped · 1 file");
  });
});
