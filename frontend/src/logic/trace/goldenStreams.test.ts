import { describe, expect, it } from "vitest";
import { eventsOf, fixtures, traceOf } from "../../fixtures/read.ts";

describe.each(fixtures)("the trace of %s", (_, whole) => {
  const expected = eventsOf(whole);

  it("is complete: each word once, each call with one result, and an end", () => {
    const { items, end } = traceOf(expected);
    for (const kind of ["content", "reasoning"] as const) {
      const said = expected.map((event) => (event.type === kind ? event.content : "")).join("");
      expect(items.map((item) => (item.kind === kind ? item.text : "")).join("")).toBe(said);
    }
    const calls = expected.flatMap((event) => (event.type === "tool_calls" ? event.calls : []));
    const shown = items.flatMap((item) => (item.kind === "call" ? [item] : []));
    expect(shown.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    expect(shown.filter(({ status }) => status === "waiting" || status === "running")).toEqual([]);
    expect(expected.at(-1)).toMatchObject({ type: "done", status: end?.status });
  });
});
