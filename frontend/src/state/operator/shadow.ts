// The request for the report of shadow mode.
import type { ShadowDifference, ShadowReport, ShadowRun } from "../../types/shadow.ts";
import { fields, type Json, list, number, sendJson, text } from "./request.ts";

export async function fetchShadowReport(): Promise<ShadowReport> {
  const report = await sendJson("GET", "/api/rollout/shadow");
  const counts = fields(report.counts);
  return {
    percent: number(report.percent),
    dailyCost: number(report.daily_cost),
    costToday: number(report.cost_today),
    cost: number(report.cost),
    counts: {
      same: number(counts.same),
      expected: number(counts.expected),
      unexpected: number(counts.unexpected),
      failed: number(counts.failed),
      running: number(counts.running),
    },
    newest: list(report.newest).map(parseRun),
  };
}

const parseRun = ({ run_id, at, model, loop, cost, differences }: Json): ShadowRun => ({
  runId: text(run_id),
  at: number(at) * 1000,
  model: text(model),
  loop: text(loop),
  cost: number(cost),
  differences: list(differences).map(parseDifference),
});

const parseDifference = ({ kind, expected, why, legacy, v2 }: Json): ShadowDifference => ({
  kind: text(kind),
  isExpected: expected === true,
  why: text(why) || undefined,
  legacy: typeof legacy === "string" ? legacy : undefined,
  v2: typeof v2 === "string" ? v2 : undefined,
});
