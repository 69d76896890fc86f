import { describe, expect, it } from "vitest";
import { totalOf } from "./chatCost.ts";

const paid = (cost: number) => ({ status: "complete", cost });
const simulated = (cost: number) => ({ ...paid(cost), simulated: true as const });

describe("what a chat cost", () => {
  it("is unknown while no answer has a cost", () => {
    expect(totalOf([undefined, { status: "error" }])).toBeUndefined();
  });

  it("adds up what was paid", () => {
    expect(totalOf([paid(0.5), undefined, paid(0.25)])).toEqual({ usd: 0.75, estimated: false, simulated: false });
  });

  it("is the hypothetical cost if every answer is simulated", () => {
    expect(totalOf([simulated(0.5), simulated(0.25)])).toEqual({ usd: 0.75, estimated: false, simulated: true });
  });

  it("never adds a simulated cost to a paid one, nor its estimate", () => {
    const doubtful = { ...simulated(0.25), cost_estimated: true as const };
    expect(totalOf([paid(0.5), doubtful])).toEqual({ usd: 0.5, estimated: false, simulated: false });
  });

  it("is an estimate while a part is unknown", () => {
    expect(totalOf([{ ...paid(0.5), cost_estimated: true }])?.estimated).toBe(true);
  });
});
