import { describe, expect, it } from "vitest";
import { bucketTimes, latencyCharts, outcomeCharts, type RunStats, stacked, tableRows } from "./runStats.ts";

const stats: RunStats = {
  since: 3700,
  until: 14_400,
  bucketSeconds: 3600,
  buckets: [
    {
      start: 3600,
      loop: "v2",
      runs: 5,
      statuses: { complete: 2, error: 1, interrupted: 2 },
      atLimit: 1,
      firstToken: { p50: 100, p95: 300 },
      duration: undefined,
    },
    {
      start: 10_800,
      loop: "legacy",
      runs: 1,
      statuses: { running: 1 },
      atLimit: 0,
      firstToken: undefined,
      duration: undefined,
    },
  ],
};

describe("charts of runs", () => {
  it("includes the times without runs, and not the one after the end", () => {
    expect(bucketTimes(stats)).toEqual([3600, 7200, 10_800]);
  });

  it("counts outcomes per loop, with zero where there are no runs", () => {
    const [v2, legacy] = outcomeCharts(stats);
    const named = (chart = v2) => Object.fromEntries((chart?.series ?? []).map(({ name, values }) => [name, values]));
    expect(named(v2)).toEqual({
      Complete: [2, 0, 0],
      "Limit reached": [1, 0, 0],
      Failed: [2, 0, 0],
      "Stopped or running": [0, 0, 0],
    });
    expect(named(legacy)["Stopped or running"]).toEqual([0, 0, 1]);
    expect(stacked(v2?.series ?? [])).toEqual([
      [2, 0, 0],
      [3, 0, 0],
      [5, 0, 0],
      [5, 0, 0],
    ]);
  });

  it("leaves a gap in a latency where it was not measured, instead of zero", () => {
    const [first] = latencyCharts(stats);
    expect(first?.series.map(({ name, values }) => [name, values])).toEqual([
      ["v2, median", [100, undefined, undefined]],
      ["v2, 95th percentile", [300, undefined, undefined]],
      ["legacy, median", [undefined, undefined, undefined]],
      ["legacy, 95th percentile", [undefined, undefined, undefined]],
    ]);
  });

  it("lists the times that have values in a table, newest first", () => {
    expect(tableRows(outcomeCharts(stats)[1] as never)).toEqual([{ time: 10_800, values: [0, 0, 0, 1] }]);
  });
});
