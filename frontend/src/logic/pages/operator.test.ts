import { describe, expect, it } from "vitest";
import type { LoopFlag, RunLine } from "../../types/models.ts";
import { ago, byLoop, codeOf, effectOf, isCurrent, joinRuns, loopSources, runLamp, statusText } from "./operator.ts";

const run = (more: Partial<RunLine>): RunLine => ({
  runId: "r",
  status: "complete",
  code: undefined,
  model: "m",
  loop: "v2",
  flag: undefined,
  protocol: "v1.1",
  started: 0,
  ms: 1,
  steps: 1,
  cost: 0,
  costEstimated: false,
  settledAt: undefined,
  conversationId: undefined,
  parentId: undefined,
  simulated: false,
  owner: "",
  ...more,
});

describe("the operator's page", () => {
  it("explains the effect of a setting", () => {
    expect(effectOf("off", 10)).toMatch(/^All new answers use the legacy loop\. This takes effect immediately/);
    expect(effectOf("on", 10)).toMatch(/^All new answers use the V2 loop/);
    expect(effectOf("percent", 10)).toMatch(/^About 10% of conversations/);
  });

  it("compares settings, including the percentage only if it applies", () => {
    const flag = (state: LoopFlag["state"], percent = 0): LoopFlag => ({
      state,
      percent,
      environment: undefined,
      effective: "",
    });
    expect(isCurrent(flag("percent", 10), "percent", 10)).toBe(true);
    expect(isCurrent(flag("percent", 10), "percent", 20)).toBe(false);
    expect(isCurrent(flag("on"), "on", 20)).toBe(true);
    expect(isCurrent(flag(undefined), "off", 0)).toBe(false);
  });

  it("counts endings for both loops, even without runs", () => {
    const failed = run({ status: "error", code: "UPSTREAM_TIMEOUT" });
    expect(byLoop([run({}), failed, run({})]).map(({ loop, words }) => [loop, words])).toEqual([
      ["legacy", "no runs"],
      ["v2", "3 runs: 2 complete, 1 failed"],
    ]);
    expect([codeOf(failed), runLamp(failed)]).toEqual(["UPSTREAM_TIMEOUT", "failed"]);
    const filtered = run({ status: "content_filter", code: "CONTENT_FILTER" });
    expect([codeOf(filtered), statusText(filtered), runLamp(filtered)]).toEqual([
      undefined,
      "Blocked by a content filter",
      "failed",
    ]);
    const cut = run({ status: "interrupted", code: "BUDGET_REACHED" });
    expect([codeOf(cut), statusText(cut), runLamp(cut)]).toEqual(["BUDGET_REACHED", "Cost limit reached", "cut"]);
    expect(runLamp(run({ status: "running" }))).toBe("running");
  });

  it("computes the share without stopped, limited and running runs", () => {
    const ended = (status: string, count: number) => Array.from({ length: count }, () => run({ status }));
    const share = (...runs: readonly RunLine[][]) => byLoop(runs.flat())[1]?.share;
    expect(share(ended("complete", 3), ended("error", 1))).toBe(75);
    expect(share(ended("complete", 3), ended("cancelled", 5), ended("running", 2))).toBe(100);
    expect(share(ended("complete", 1), ended("length", 1), ended("interrupted", 1))).toBe(50);
    expect(share(ended("cancelled", 4))).toBeUndefined();
    expect(share(ended("complete", 999), ended("error", 1))).toBe(99);
  });

  it("sorts successful endings first and running ones last, with median times and costs", () => {
    const group = byLoop([
      run({ status: "running", ms: undefined, cost: undefined }),
      run({ status: "error", ms: 9000, cost: 0.5 }),
      run({ ms: 10, cost: 0.1 }),
      run({ ms: 20, cost: 0.2 }),
    ])[1];
    expect(group?.endings.map(({ name, lamp, count }) => [name, lamp, count])).toEqual([
      ["Complete", "done", 2],
      ["Failed", "failed", 1],
      ["Running", "running", 1],
    ]);
    expect([group?.ms, group?.cost]).toEqual([20, { usd: 0.2, simulated: false }]);
  });

  it("excludes simulated costs from the median of paid ones", () => {
    const simulated = run({ cost: 9, simulated: true });
    const costOf = (runs: readonly RunLine[]) => byLoop(runs).find(({ loop }) => loop === "v2")?.cost;
    expect(costOf([simulated, run({ cost: 0.5 }), simulated])).toEqual({ usd: 0.5, simulated: false });
    expect(costOf([simulated, run({ cost: undefined })])).toEqual({ usd: 9, simulated: true });
    expect(costOf([run({ cost: undefined })])).toBeUndefined();
  });

  it.each([
    [{ environment: false, state: "on" }, 0, "set"],
    [{ environment: true, state: "percent" }, 1, "30%"],
    [{ environment: undefined, state: "off" }, 1, "off"],
    [{ environment: true, state: undefined }, 2, "set"],
    [{ environment: undefined, state: undefined }, 3, "the V2 loop"],
  ] as const)("knows who decides: %o", (stands, place, word) => {
    const sources = loopSources({ percent: 30, effective: "", ...stands });
    expect(sources.map(({ applies }) => applies).indexOf(true)).toBe(place);
    expect(sources.filter(({ applies }) => applies)).toHaveLength(1);
    expect(sources[place]?.value).toBe(word);
  });

  describe("refreshing", () => {
    const page = (ids: string, next?: string) => ({ runs: [...ids].map((runId) => run({ runId })), next });
    const idsOf = ({ runs, next }: ReturnType<typeof joinRuns>) => [runs.map(({ runId }) => runId).join(""), next];

    it("keeps older runs after the newest, each once", () => {
      expect(idsOf(joinRuns(page("xyabc", "c"), page("abcdef", "f")))).toEqual(["xyabcdef", "f"]);
    });

    it("starts over if runs are missing in between", () => {
      expect(idsOf(joinRuns(page("xyz", "z"), page("abcdef", "f")))).toEqual(["xyz", "z"]);
    });

    it("drops deleted runs", () => {
      expect(idsOf(joinRuns(page("xac", "c"), page("abcd", "d")))).toEqual(["xacd", "d"]);
      expect(idsOf(joinRuns(page("xa"), page("abcd")))).toEqual(["xa", undefined]);
    });

    it("updates a running run", () => {
      const known = { runs: [run({ runId: "a", status: "running" })], next: "a" };
      expect(joinRuns(page("a", "a"), known).runs[0]?.status).toBe("complete");
    });
  });

  it.each([
    [1000, "now"],
    [3 * 60_000, "3 min ago"],
    [150 * 60_000, "2 h ago"],
    [90 * 3_600_000, "3 d ago"],
  ])("says that %d ms ago was %s", (ms, text) => {
    expect(ago(ms)).toBe(text);
  });
});
