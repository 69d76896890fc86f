import { describe, expect, it } from "vitest";
import type { ApiToken, Group } from "../../types/operator.ts";
import { budgetLines, daysOf, rowName, shareText, spendChart } from "./spend.ts";

const row = (key: string, cost = 0, name?: string) => ({ key, name, runs: 1, cost, estimated: 0, estimatedRuns: 0 });

describe("the time of costs", () => {
  // In the last minute of a UTC day, which is another day elsewhere.
  const now = Date.parse("2026-03-31T23:59:30Z");

  it.each([
    ["month", "2026-03-01", "2026-03-31"],
    ["last-month", "2026-02-01", "2026-02-28"],
    ["7d", "2026-03-25", "2026-03-31"],
    ["30d", "2026-03-02", "2026-03-31"],
  ] as const)("is in UTC days: %s", (period, first, last) => {
    expect(daysOf(period, now)).toEqual({ first, last });
  });
});

describe("costs", () => {
  it("have a bar for each day, also for those without runs", () => {
    const spend = {
      firstDay: "2026-02-27",
      lastDay: "2026-03-02",
      rows: [row("2026-02-28", 0.5), row("2026-03-02", 2)],
    };
    const { times, series } = spendChart(spend);
    expect(times.map((seconds) => new Date(seconds * 1000).toISOString())).toEqual([
      "2026-02-27T00:00:00.000Z",
      "2026-02-28T00:00:00.000Z",
      "2026-03-01T00:00:00.000Z",
      "2026-03-02T00:00:00.000Z",
    ]);
    expect(series[0]?.values).toEqual([0, 0.5, 0, 2]);
  });

  it("are named by the token, by the person, or by what is missing", () => {
    expect(rowName("owner", row("t1", 0, "Ada"))).toBe("Ada");
    expect(rowName("owner", row("user:ada@example.org"))).toBe("ada@example.org");
    expect(rowName("owner", row(""))).toBe("No API token");
    expect(rowName("group", row(""))).toBe("No group");
    expect(rowName("model", row("a/b"))).toBe("a/b");
  });

  it("have a share that is never zero for what cost something", () => {
    expect(shareText(1, 3)).toBe("33%");
    expect(shareText(0.001, 3)).toBe("<1%");
    expect(shareText(0, 3)).toBe("0%");
    expect(shareText(0, 0)).toBe("");
  });
});

describe("budgets", () => {
  const group = (name: string, budgetMonth?: number): Group => ({
    name,
    created: 0,
    expires: undefined,
    budgetDay: undefined,
    budgetMonth,
    rateLimit: undefined,
    maxRuns: undefined,
    models: undefined,
    tools: undefined,
  });
  const token = (id: string, more: Partial<ApiToken>): ApiToken => ({
    ...group(`Name ${id}`),
    id,
    group: undefined,
    revoked: undefined,
    formerUntil: undefined,
    lastUsed: undefined,
    ...more,
  });
  const spent = (day: [string, number][], month: [string, number][]) => ({ day: new Map(day), month: new Map(month) });

  it("show what is used and left, and never less than nothing", () => {
    const lines = budgetLines(
      [
        token("t1", { budgetDay: 2, budgetMonth: 10 }),
        token("t2", {}),
        token("t3", { budgetDay: 1, revoked: 5 }),
        token("team", { budgetDay: 1 }),
      ],
      [group("team", 20), group("free")],
      { owner: spent([["t1", 2.5]], [["t1", 4]]), group: spent([], [["team", 5]]) },
    );
    expect(lines).toEqual([
      {
        id: "Group team",
        name: "team",
        kind: "Group",
        day: undefined,
        month: { used: 5, budget: 20, left: 15 },
      },
      {
        id: "Token t1",
        name: "Name t1",
        kind: "Token",
        day: { used: 2.5, budget: 2, left: 0 },
        month: { used: 4, budget: 10, left: 6 },
      },
      {
        id: "Token team",
        name: "Name team",
        kind: "Token",
        day: { used: 0, budget: 1, left: 1 },
        month: undefined,
      },
    ]);
  });
});
