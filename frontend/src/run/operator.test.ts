import { describe, expect, it } from "vitest";
import type { Lever, RunLine } from "../types/models.ts";
import { ago, byLoop, effectOf, endingWords, runLamp, standsAt } from "./operator.ts";

const run = (more: Partial<RunLine>): RunLine => ({
  runId: "r",
  status: "complete",
  code: undefined,
  model: "m",
  loop: "v2",
  started: 0,
  ms: 1,
  steps: 1,
  cost: 0,
  ...more,
});

describe("the operator's page", () => {
  it("says what pulling does", () => {
    expect(effectOf("off", 10)).toMatch(/^Every new answer is made by the legacy loop\. It acts at once/);
    expect(effectOf("on", 10)).toMatch(/^Every new answer is made by the V2 loop/);
    expect(effectOf("percent", 10)).toMatch(/^About 10 of 100 conversations/);
  });

  it("knows where the lever stands; the share counts in its own state only", () => {
    const lever = (state: Lever["state"], percent = 0): Lever => ({
      state,
      percent,
      environment: undefined,
      effective: "",
    });
    expect(standsAt(lever("percent", 10), "percent", 10)).toBe(true);
    expect(standsAt(lever("percent", 10), "percent", 20)).toBe(false);
    expect(standsAt(lever("on"), "on", 20)).toBe(true);
    expect(standsAt(lever(undefined), "off", 0)).toBe(false);
  });

  it("counts endings for both loops, also for one without runs", () => {
    const failed = run({ status: "error", code: "UPSTREAM_TIMEOUT" });
    expect(byLoop([run({}), failed, run({})]).map(({ loop, words }) => [loop, words])).toEqual([
      ["legacy", "no run"],
      ["v2", "3 runs: 2 complete, 1 error"],
    ]);
    expect([endingWords(failed), runLamp(failed)]).toEqual(["error UPSTREAM_TIMEOUT", "failed"]);
    expect([endingWords(run({ status: "running" })), runLamp(run({ status: "running" }))]).toEqual([
      "running",
      "running",
    ]);
  });

  it.each([
    [1000, "now"],
    [3 * 60_000, "3 min ago"],
    [150 * 60_000, "2 h ago"],
  ])("says that %d ms ago was %s", (ms, text) => {
    expect(ago(ms)).toBe(text);
  });
});
